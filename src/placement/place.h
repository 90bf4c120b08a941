// Where a task goes: the instances that fit, then constraints (binding), then strategies (best
// effort), then the GPUs and cores. Source: ECS Developer Guide, "How Amazon ECS places tasks".
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/ecs.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "model/resources.h"
#include "model/state.h"
#include "placement/policy.h"
#include "placement/refusal.h"

namespace placement {

// One task to place. Built once per RunTask call and used for each of its `count` tasks.
struct Request {
  model::ClusterName cluster;
  model::ResourceRequest resources;
  std::string group;        // "family:train" unless given; distinctInstance and spread count by it.
  std::string launch_type;  // "EC2", "EXTERNAL", or empty: either.
  // Only instances of this one; model::berth_queue: those of none. Empty: any.
  std::string capacity_provider;
  std::vector<std::string> required_attributes;  // Names that the definition's features need.
  // What only some machines allow (model/task_bounds.h), sorted.
  std::vector<std::string> needs;
  api::List<api::ecs::PlacementConstraint> constraints;  // Definition's and call's, 10 at most.
  api::List<api::ecs::PlacementStrategy> strategies;     // In order, 5 at most.
};

struct Explanation;  // placement/explain.h

struct Placement {
  model::InstanceArn instance;
  model::HeldResources held;  // With the physical GPUs, and cores where they are pinned.
};

// Checks constraints and strategies without placing anything, so that a bad expression costs
// nothing. Errors: InvalidParameterException naming the character and what was expected.
base::Result<void> validate(const api::List<api::ecs::PlacementConstraint>& constraints,
                            const api::List<api::ecs::PlacementStrategy>& strategies);

// A cache over one ClusterState: all in it can be made again from the state, except what it has
// learned of the workload, which it learns again. The owner tells it of each instance that a change
// has touched; it never alters the state. The same calls in the same order get the same answers.
// One thread. Copying is not needed; moving is cheap.
class Engine {
 public:
  explicit Engine(Policy policy = Policy::Berth);
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  // How instances of this cluster are ranked from now on, where strategies leave a choice.
  void set_policy(const model::ClusterState& state, const model::ClusterName& cluster,
                  Policy policy);
  // Takes these requests for the cluster's typical workload, once and for all, instead of learning
  // it from what arrives.
  void set_workload(const model::ClusterName& cluster, const std::vector<Request>& requests);

  // Takes in everything; O(instances).
  void reset(const model::ClusterState& state);
  // The instance is new, altered or gone, or tasks on it came, changed or went.
  void instance_changed(const model::ClusterState& state, const model::InstanceArn& arn);

  // Picks the instance, GPUs and cores of one task. At most one Refusal an instance considered,
  // the nearest fit first, `limit` of them at most.
  std::expected<Placement, std::vector<Refusal>> place(const model::ClusterState& state,
                                                       const Request& request, base::Random& random,
                                                       size_t limit = 1);
  // StartTask: that instance or a refusal; strategies and placement constraints are not looked at.
  std::expected<Placement, Refusal> place_on(const model::ClusterState& state,
                                             const Request& request,
                                             const model::InstanceArn& instance);
  // Whether the cluster query expression holds for the instance: ListContainerInstances --filter.
  // Errors: InvalidParameterException naming the character and what was expected.
  base::Result<std::vector<model::InstanceArn>> filter(const model::ClusterState& state,
                                                       const model::ClusterName& cluster,
                                                       std::string_view expression);

  // place(), dry. Errors: InvalidParameterException from constraints and strategies.
  base::Result<Explanation> explain(const model::ClusterState& state, const Request& request);

  // How many instances place() may have to look at.
  size_t instances(const model::ClusterName& cluster) const;

  // How much idle GPU of the cluster is of no use to its typical workload, in thousandths of a GPU.
  // O(instances).
  double fragments(const model::ClusterState& state, const model::ClusterName& cluster);

 private:
  struct Cache;
  std::unique_ptr<Cache> cache_;
};

}  // namespace placement
