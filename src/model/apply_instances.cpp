#include <algorithm>

#include "model/apply.h"
#include "model/derived.h"

namespace model {
namespace {

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

void end_quarantine(const ClusterState& state, GpuSlot& gpu) {
  gpu.state = GpuState::Idle;
  gpu.reason.clear();
  gpu.unproven_tasks.clear();
  refresh_gpu(state, gpu);
}

}  // namespace

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
  made.task_groups = std::move(old.task_groups);
  made.running_tasks = old.running_tasks;
  made.pending_tasks = old.pending_tasks;
  made.checks = std::move(old.checks);
  old = std::move(made);
}

void apply_one(ClusterState& state, const InstanceDeregistered& change) {
  ContainerInstance& instance = instance_of(state, change.arn);
  instance.status = InstanceStatus::Inactive;
  instance.agent_connected = false;
  instance.agent_silent = false;
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
  instance.agent_silent = change.connected && change.silent;
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
  for (const auto& [arn, usage] : change.containers) {
    for (const auto& [name, told] : usage) task_of(state, arn).usage[name] = told;
  }
}

}  // namespace model
