#include "placement/testing.h"

#include <algorithm>

#include "base/format.h"

namespace placement::test {

TestCluster::TestCluster() {
  state.clusters[cluster_name].name = cluster_name;
  engine.reset(state);
}

model::InstanceArn TestCluster::add(const InstanceShape& shape) {
  model::ContainerInstance instance;
  instance.cpu_units = shape.cpu_units;
  instance.memory_mib = shape.memory_mib;
  instance.attributes = shape.attributes;
  for (int32_t i = 0; i < shape.gpus; ++i) {
    model::GpuSlot slot;
    slot.device.uuid = base::format("GPU-{}-{}", shape.id, i);
    slot.device.model = "Test GPU";
    slot.device.memory_mib = shape.gpu_memory_mib;
    slot.device.mps_capable = shape.mps_capable;
    instance.gpus.push_back(std::move(slot));
  }
  return add(shape.id, std::move(instance));
}

model::InstanceArn TestCluster::add(std::string id, model::ContainerInstance instance) {
  instance.arn = model::instance_arn({}, cluster_name, id);
  instance.cluster = cluster_name;
  instance.agent_connected = true;
  apply(model::InstanceRegistered{instance});
  return instance.arn;
}

void TestCluster::connect(const model::InstanceArn& arn, bool connected) {
  apply(model::AgentConnectionChanged{
      .arn = arn, .connected = connected, .reason = "The network is down", .at = {}});
}

void TestCluster::fall_silent(const model::InstanceArn& arn) {
  apply(model::AgentConnectionChanged{.arn = arn,
                                      .connected = true,
                                      .reason = "Connection reset by peer",
                                      .at = {},
                                      .silent = true});
}

std::optional<model::Task> TestCluster::run(const Request& request) {
  refusals_.clear();
  auto placed = engine.place(state, request, random, 100);
  if (!placed) {
    refusals_ = placed.error();
    return std::nullopt;
  }
  model::Task task;
  task.arn = model::task_arn({}, cluster_name, base::format("{:04}", ++tasks_made_));
  task.cluster = cluster_name;
  task.instance = placed->instance;
  task.group = request.group;
  task.last_status = model::TaskStatus::Running;
  task.held = placed->held;
  apply(model::TaskPlaced{task});
  return task;
}

void TestCluster::request_stop(const model::TaskArn& task) {
  apply(model::TaskStopRequested{
      .arn = task, .stop_code = "UserInitiated", .reason = "test", .at = {}});
}

void TestCluster::stopped(const model::TaskArn& task) {
  model::TaskReported report;
  report.arn = task;
  report.last_status = model::TaskStatus::Stopped;
  report.stopped_at = base::Time{};
  apply(report);
}

void TestCluster::apply(const model::Change& change) {
  std::vector<model::InstanceArn> touched;
  model::touched_instances(state, change, touched);
  model::apply(state, change);
  for (const model::InstanceArn& arn : touched) engine.instance_changed(state, arn);
}

Request request_of(const model::ResourceRequest& resources) {
  Request request;
  request.cluster = cluster_name;
  request.resources = resources;
  request.group = "family:test";
  return request;
}

Request gpu_request(uint32_t count, int64_t cpu_units, int64_t memory_mib) {
  Request request = request_of({});
  request.resources.cpu_units = cpu_units;
  request.resources.memory_mib = memory_mib;
  if (count > 0) {
    model::GpuRequest gpu;
    gpu.container = "main";
    gpu.count = count;
    request.resources.gpus.push_back(std::move(gpu));
  }
  return request;
}

Request share_request(int64_t memory_mib) {
  Request request = gpu_request(1);
  request.resources.gpus[0].kind = model::GpuRequestKind::Memory;
  request.resources.gpus[0].count = 0;
  request.resources.gpus[0].memory_mib = memory_mib;
  return request;
}

Request fraction_request(int32_t milli) {
  Request request = gpu_request(1);
  request.resources.gpus[0].kind = model::GpuRequestKind::Fraction;
  request.resources.gpus[0].count = 0;
  request.resources.gpus[0].milli = milli;
  return request;
}

model::GpuRequest all_gpus(std::string container) {
  model::GpuRequest gpu;
  gpu.container = std::move(container);
  gpu.kind = model::GpuRequestKind::All;
  return gpu;
}

api::ecs::PlacementConstraint member_of(std::string expression) {
  return {.type = api::ecs::PlacementConstraintType::MemberOf, .expression = std::move(expression)};
}

api::ecs::PlacementConstraint distinct_instance() {
  return {.type = api::ecs::PlacementConstraintType::DistinctInstance, .expression = {}};
}

api::ecs::PlacementStrategy strategy(api::ecs::PlacementStrategyType type, std::string field) {
  api::ecs::PlacementStrategy made;
  made.type = type;
  if (!field.empty()) made.field = std::move(field);
  return made;
}

std::string held_gpus(const model::HeldResources& held) {
  std::vector<std::string> names;
  for (const model::GpuAssignment& gpu : held.gpus) {
    names.push_back("GPU-" + gpu.gpu.substr(gpu.gpu.rfind('-') + 1));
  }
  std::ranges::sort(names);
  return base::format("{}", base::join(names, " "));
}

}  // namespace placement::test
