// Clusters for tests: built and altered through the model's own changes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/change.h"
#include "placement/place.h"

namespace placement::test {

struct InstanceShape {
  std::string id;
  int64_t cpu_units = 8192;
  int64_t memory_mib = 32768;
  int32_t gpus = 0;
  int64_t gpu_memory_mib = 16384;
  std::map<std::string, std::string> attributes = {};
  bool mps_capable = true;
};

class TestCluster {
 public:
  TestCluster();

  model::InstanceArn add(const InstanceShape& shape);
  // As add(), for a record made by the test; arn and cluster are filled in.
  model::InstanceArn add(std::string id, model::ContainerInstance instance);
  void connect(const model::InstanceArn& arn, bool connected);
  // Its connection has ended, its grace has not. Only of a connected one.
  void fall_silent(const model::InstanceArn& arn);
  // Places a task where the engine wants it, and keeps it; nullopt and refusals() else.
  std::optional<model::Task> run(const Request& request);
  void request_stop(const model::TaskArn& task);
  void stopped(const model::TaskArn& task);
  void apply(const model::Change& change);

  const model::ContainerInstance& instance(const model::InstanceArn& arn) const {
    return state.instances.at(arn);
  }
  const std::vector<Refusal>& refusals() const { return refusals_; }

  model::ClusterState state;
  Engine engine;
  base::Random random{7};

 private:
  std::vector<Refusal> refusals_;
  int tasks_made_ = 0;
};

inline const model::ClusterName cluster_name{"default"};

// A request in cluster "default", group "family:test".
Request request_of(const model::ResourceRequest& resources);
// Whole GPUs for one container "main".
Request gpu_request(uint32_t count, int64_t cpu_units = 100, int64_t memory_mib = 80);
Request share_request(int64_t memory_mib);
Request fraction_request(int32_t milli);
model::GpuRequest all_gpus(std::string container);
api::ecs::PlacementConstraint member_of(std::string expression);
api::ecs::PlacementConstraint distinct_instance();
api::ecs::PlacementStrategy strategy(api::ecs::PlacementStrategyType type, std::string field = "");

// "GPU-0 GPU-1": of what the task holds, without the instance's name; sorted.
std::string held_gpus(const model::HeldResources& held);

}  // namespace placement::test
