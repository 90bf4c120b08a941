#include "model/change.h"

#include <algorithm>

#include "base/format.h"
#include "model/derived.h"

namespace model {
namespace {

ContainerInstance& instance_of(ClusterState& state, const InstanceArn& arn) {
  const auto found = state.instances.find(arn);
  CHECK(found != state.instances.end());
  return found->second;
}

Task& task_of(ClusterState& state, const TaskArn& arn) {
  const auto found = state.tasks.find(arn);
  CHECK(found != state.tasks.end());
  return found->second;
}

GpuSlot& gpu_of(ContainerInstance& instance, std::string_view uuid) {
  auto* const slot = const_cast<GpuSlot*>(find_gpu(instance, uuid));
  CHECK(slot != nullptr);
  return *slot;
}

void apply_one(ClusterState& state, const ClusterCreated& change) {
  state.clusters[change.cluster.name] = change.cluster;
}

void apply_one(ClusterState& state, const ClusterDeleted& change) {
  const auto found = state.clusters.find(change.cluster);
  CHECK(found != state.clusters.end());
  found->second.status = ClusterStatus::Inactive;
}

void apply_one(ClusterState& state, const TaskDefinitionRegistered& change) {
  const TaskDefinition& made = change.task_definition;
  CHECK(state.task_definitions[made.family].emplace(made.revision, made).second);
}

void apply_one(ClusterState& state, const TaskDefinitionDeregistered& change) {
  auto* const found = const_cast<TaskDefinition*>(find_task_definition(state, change.arn));
  CHECK(found != nullptr);
  found->definition.status = api::ecs::TaskDefinitionStatus::Inactive;
  found->definition.deregistered_at = change.at;
}

// Slots of the devices that are there now; a slot keeps its state, and one that is still held or
// quarantined stays, marked as gone, when its device is no longer reported.
std::vector<GpuSlot> merged_slots(std::vector<GpuSlot> found, const std::vector<GpuSlot>& before) {
  for (const GpuSlot& old : before) {
    const auto same = std::ranges::find(found, old.device.uuid,
                                        [](const GpuSlot& slot) { return slot.device.uuid; });
    if (same != found.end()) {
      same->state = old.state;
      same->reason = old.reason;
      same->holders = old.holders;
    } else if (!old.holders.empty() || old.state == GpuState::Quarantined) {
      GpuSlot gone = old;
      gone.device.healthy = false;
      gone.device.health_reason = "the agent no longer finds this GPU on its machine";
      found.push_back(std::move(gone));
    }
  }
  return found;
}

void apply_one(ClusterState& state, const InstanceRegistered& change) {
  ContainerInstance made = change.instance;
  const auto before = state.instances.find(made.arn);
  if (before == state.instances.end()) {
    state.instances.emplace(made.arn, std::move(made));
    return;
  }
  ContainerInstance& old = before->second;
  made.gpus = merged_slots(std::move(made.gpus), old.gpus);
  made.cpu_units_held = old.cpu_units_held;
  made.memory_mib_held = old.memory_mib_held;
  made.ports_held = std::move(old.ports_held);
  made.tasks = std::move(old.tasks);
  made.running_tasks = old.running_tasks;
  made.pending_tasks = old.pending_tasks;
  old = std::move(made);
}

void apply_one(ClusterState& state, const InstanceDeregistered& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  instance.status = InstanceStatus::Inactive;
  instance.agent_connected = false;
  instance.connected_changed_at = change.at;
  ++instance.version;
}

void apply_one(ClusterState& state, const InstanceForgotten& change) {
  CHECK(instance_of(state, change.arn).tasks.empty());
  state.instances.erase(change.arn);
}

void apply_one(ClusterState& state, const AgentConnectionChanged& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  instance.agent_connected = change.connected;
  instance.status_reason = change.reason;
  instance.connected_changed_at = change.at;
}

void apply_one(ClusterState& state, const AttributesPut& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  for (const auto& [name, value] : change.attributes) instance.attributes[name] = value;
  ++instance.version;
}

void apply_one(ClusterState& state, const AttributesDeleted& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  for (const std::string& name : change.names) instance.attributes.erase(name);
  ++instance.version;
}

void apply_one(ClusterState& state, const GpuQuarantined& change) {
  GpuSlot& gpu = gpu_of(instance_of(state, change.arn), change.gpu);
  gpu.state = GpuState::Quarantined;
  gpu.reason = change.reason;
}

void apply_one(ClusterState& state, const GpuCleared& change) {
  GpuSlot& gpu = gpu_of(instance_of(state, change.arn), change.gpu);
  gpu.state = GpuState::Idle;
  gpu.reason.clear();
  refresh_gpu(state, gpu);
}

void apply_one(ClusterState& state, const TaskPlaced& change) {
  const auto [placed, inserted] = state.tasks.emplace(change.task.arn, change.task);
  CHECK(inserted);
  for (const GpuAssignment& held : placed->second.held.gpus) {
    const GpuSlot& gpu = gpu_of(instance_of(state, placed->second.instance), held.gpu);
    CHECK(gpu.state == GpuState::Idle || (held.shared && gpu.state == GpuState::NvidiaMps));
  }
  hold(state, placed->second);
}

void apply_one(ClusterState& state, const TaskStopRequested& change) {
  Task& task = task_of(state, change.arn);
  CHECK(task.last_status != TaskStatus::Stopped);
  if (task.desired_status == TaskStatus::Stopped) return;  // The first reason stands.
  task.desired_status = TaskStatus::Stopped;
  task.stop_code = change.stop_code;
  task.stopped_reason = change.reason;
  task.stopping_at = change.at;
  task.acknowledged = false;
  ++task.version;
  ContainerInstance& instance = instance_of(state, task.instance);
  for (GpuSlot& gpu : instance.gpus) refresh_gpu(state, gpu);
}

void quarantine_unproven(ContainerInstance& instance, const TaskReported& change) {
  for (const GpuRelease& release : change.gpu_releases) {
    if (release.empty) continue;
    GpuSlot& gpu = gpu_of(instance, release.gpu);
    gpu.state = GpuState::Quarantined;
    gpu.reason = release.reason;
  }
}

void apply_one(ClusterState& state, const TaskReported& change) {
  Task& task = task_of(state, change.arn);
  CHECK(task.last_status <= change.last_status);  // A status only moves forward.
  CHECK(task.last_status != TaskStatus::Stopped);
  count_status(state, task, -1);
  task.last_status = change.last_status;
  task.containers = change.containers;
  task.stop_code = change.stop_code;
  task.stopped_reason = change.stopped_reason;
  task.started_at = change.started_at;
  task.stopping_at = change.stopping_at;
  task.stopped_at = change.stopped_at;
  task.pull_started_at = change.pull_started_at;
  task.pull_stopped_at = change.pull_stopped_at;
  task.execution_stopped_at = change.execution_stopped_at;
  ++task.version;
  count_status(state, task, +1);
  if (change.last_status != TaskStatus::Stopped) return;
  CHECK(task.stopped_at.has_value());
  task.desired_status = TaskStatus::Stopped;
  let_go(state, task);
  quarantine_unproven(instance_of(state, task.instance), change);
  state.stopped_tasks.emplace(*task.stopped_at, task.arn);
}

void apply_one(ClusterState& state, const TaskAcknowledged& change) {
  task_of(state, change.arn).acknowledged = true;
}

void apply_one(ClusterState& state, const TaskExpired& change) {
  const Task& task = task_of(state, change.arn);
  CHECK(task.last_status == TaskStatus::Stopped);
  state.stopped_tasks.erase({*task.stopped_at, task.arn});
  state.tasks.erase(change.arn);
}

void apply_one(ClusterState& state, const ClientTokenUsed& change) {
  state.client_tokens[{change.token.cluster, change.token.token}] = change.token;
}

void apply_one(ClusterState& state, const ClientTokenExpired& change) {
  state.client_tokens.erase({change.cluster, change.token});
}

}  // namespace

void apply(ClusterState& state, const Change& change) {
  std::visit([&](const auto& one) { apply_one(state, one); }, change);
}

void touched_instances(const ClusterState& state, const Change& change,
                       std::vector<InstanceArn>& touched) {
  const auto of_task = [&](const TaskArn& arn) {
    if (const Task* const task = find_task(state, arn)) touched.push_back(task->instance);
  };
  std::visit(
      [&](const auto& one) {
        using T = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<T, TaskPlaced>) {
          touched.push_back(one.task.instance);
        } else if constexpr (std::is_same_v<T, TaskStopRequested> ||
                             std::is_same_v<T, TaskReported>) {
          of_task(one.arn);
        } else if constexpr (std::is_same_v<T, InstanceRegistered>) {
          touched.push_back(one.instance.arn);
        } else if constexpr (requires {
                               { one.arn } -> std::convertible_to<InstanceArn>;
                             }) {
          touched.push_back(one.arn);
        }
      },
      change);
}

}  // namespace model
