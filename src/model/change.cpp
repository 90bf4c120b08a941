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
      same->unproven_tasks = old.unproven_tasks;
      same->released_unproven = old.released_unproven;
      same->holders = old.holders;
      same->usage = old.usage;
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
  made.checks = std::move(old.checks);
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

void end_quarantine(const ClusterState& state, GpuSlot& gpu) {
  gpu.state = GpuState::Idle;
  gpu.reason.clear();
  gpu.unproven_tasks.clear();
  refresh_gpu(state, gpu);
}

void apply_one(ClusterState& state, const GpuQuarantined& change) {
  GpuSlot& gpu = gpu_of(instance_of(state, change.arn), change.gpu);
  gpu.state = GpuState::Quarantined;
  gpu.reason = change.reason;
  gpu.unproven_tasks.clear();
}

void apply_one(ClusterState& state, const GpuCleared& change) {
  GpuSlot& gpu = gpu_of(instance_of(state, change.arn), change.gpu);
  end_quarantine(state, gpu);
}

void apply_one(ClusterState& state, const GpuProven& change) {
  GpuSlot& gpu = gpu_of(instance_of(state, change.arn), change.gpu);
  CHECK(gpu.unproven_tasks.erase(change.task) == 1);
  gpu.released_unproven = change.on_word_alone;
  if (gpu.unproven_tasks.empty()) end_quarantine(state, gpu);
}

void apply_one(ClusterState& state, const InstanceStatusChanged& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  CHECK(instance.status != InstanceStatus::Inactive);
  instance.status = change.status;
  ++instance.version;
}

void apply_one(ClusterState& state, const InstanceObserved& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  for (const InstanceCheck& check : change.checks) {
    const auto same = std::ranges::find(instance.checks, check.type, &InstanceCheck::type);
    if (same == instance.checks.end()) {
      instance.checks.push_back(check);
    } else {
      *same = check;
    }
  }
  for (GpuSlot& gpu : instance.gpus) {
    const auto told = change.usage.find(gpu.device.uuid);
    if (told != change.usage.end()) gpu.usage = told->second;
  }
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

// A quarantine that only an operator ends outlasts one for want of a proof.
void quarantine(const TaskArn& task, const GpuRelease& release, GpuSlot& gpu) {
  const bool was = gpu.state == GpuState::Quarantined;
  if (release.kind == GpuReleaseKind::Unproven) {
    if (!was || !gpu.unproven_tasks.empty()) gpu.unproven_tasks.insert(task);
    if (was) return;
  } else {
    gpu.unproven_tasks.clear();
  }
  gpu.state = GpuState::Quarantined;
  gpu.reason = release.reason;
}

void settle_gpus(ContainerInstance& instance, const TaskReported& change) {
  for (const GpuRelease& release : change.gpu_releases) {
    GpuSlot& gpu = gpu_of(instance, release.gpu);
    if (release.kind == GpuReleaseKind::Proven || release.kind == GpuReleaseKind::OnWordAlone) {
      gpu.released_unproven = release.kind == GpuReleaseKind::OnWordAlone;
    } else {
      quarantine(change.arn, release, gpu);
    }
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
  task.stage = change.stage;
  ++task.version;
  count_status(state, task, +1);
  if (change.last_status != TaskStatus::Stopped) return;
  CHECK(task.stopped_at.has_value());
  task.desired_status = TaskStatus::Stopped;
  let_go(state, task);
  settle_gpus(instance_of(state, task.instance), change);
  state.stopped_tasks.emplace(*task.stopped_at, task.arn);
}

void apply_one(ClusterState& state, const ContainerHealthReported& change) {
  Task& task = task_of(state, change.arn);
  for (TaskContainer& container : task.containers) {
    const auto told = change.health.find(container.name);
    if (told != change.health.end()) container.health_status = told->second;
  }
  ++task.version;
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

// The tags of any resource that has some.
struct TagsOf {
  ClusterState& state;

  api::List<api::ecs::Tag>& operator()(const ClusterName& name) const {
    const auto found = state.clusters.find(name);
    CHECK(found != state.clusters.end());
    return found->second.tags;
  }
  api::List<api::ecs::Tag>& operator()(const InstanceArn& arn) const {
    return instance_of(state, arn).tags;
  }
  api::List<api::ecs::Tag>& operator()(const TaskDefinitionArn& arn) const {
    auto* const found = const_cast<TaskDefinition*>(find_task_definition(state, arn));
    CHECK(found != nullptr);
    return found->tags;
  }
  api::List<api::ecs::Tag>& operator()(const TaskArn& arn) const {
    return task_of(state, arn).tags;
  }
  api::List<api::ecs::Tag>& operator()(const ServiceArn& arn) const {
    const auto found = state.services.find(arn);
    CHECK(found != state.services.end());
    return found->second.tags;
  }
};

void apply_one(ClusterState& state, const TagsSet& change) {
  std::visit(TagsOf{state}, change.resource) = change.tags;
}

void apply_one(ClusterState& state, const ClientTokenUsed& change) {
  state.client_tokens[{change.token.cluster, change.token.token}] = change.token;
}

void apply_one(ClusterState& state, const ClientTokenExpired& change) {
  state.client_tokens.erase({change.cluster, change.token});
}

void apply_one(ClusterState& state, const AgentKeyPut& change) {
  state.agent_keys[change.key.id] = change.key;
}

void apply_one(ClusterState& state, const AgentKeyRemoved& change) {
  state.agent_keys.erase(change.id);
}

void apply_one(ClusterState& state, const JoinTokenPut& change) {
  state.join_tokens[change.token.id] = change.token;
}

void apply_one(ClusterState& state, const JoinTokenRemoved& change) {
  state.join_tokens.erase(change.id);
}

void apply_one(ClusterState& state, const TaskProtectionSet& change) {
  Task& task = task_of(state, change.arn);
  task.protected_until = change.until;
  ++task.version;
}

void apply_one(ClusterState& state, const ServicePut& change) {
  state.services[change.service.arn] = change.service;
}

void apply_one(ClusterState& state, const ServiceEventAdded& change) {
  CHECK(state.services.contains(change.arn));
  ServiceEvents& kept = state.service_events[change.arn];
  kept.service = change.arn;
  kept.events.push_back(change.event);
  if (kept.events.size() > most_service_events) kept.events.erase(kept.events.begin());
}

void apply_one(ClusterState& state, const ServiceRevisionPut& change) {
  state.service_revisions[change.revision.arn] = change.revision;
}

void apply_one(ClusterState& state, const ServiceDeploymentPut& change) {
  state.service_deployments[change.deployment.arn] = change.deployment;
}

void apply_one(ClusterState& state, const ServiceDeploymentForgotten& change) {
  state.service_deployments.erase(change.arn);
}

void apply_one(ClusterState& state, const ServiceRevisionForgotten& change) {
  state.service_revisions.erase(change.arn);
}

void apply_one(ClusterState& state, const ServiceForgotten& change) {
  state.services.erase(change.arn);
  state.service_events.erase(change.arn);
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
        } else if constexpr (std::is_same_v<T, InstanceObserved>) {
          // Nothing that a placement looks at.
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
