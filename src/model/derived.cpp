#include "model/derived.h"

#include <algorithm>

#include "base/format.h"
#include "base/result.h"
#include "model/change.h"

namespace model {
namespace {

ContainerInstance& instance_with(ClusterState& state, const Task& task) {
  const auto found = state.instances.find(task.instance);
  CHECK(found != state.instances.end());
  return found->second;
}

GpuSlot* gpu_of(ContainerInstance& instance, const std::string& uuid) {
  return const_cast<GpuSlot*>(find_gpu(instance, uuid));
}

void leave_group(ClusterState& state, const Task& task) {
  const auto group = state.tasks_by_group.find({task.cluster, task.group});
  CHECK(group != state.tasks_by_group.end());
  group->second.erase(task.arn);
  if (group->second.empty()) state.tasks_by_group.erase(group);
}

}  // namespace

bool take(ContainerInstance& instance, const TaskArn& task, const HeldResources& held) {
  bool free = true;
  instance.cpu_units_held += held.cpu_units;
  instance.memory_mib_held += held.memory_mib;
  for (const HostPort& port : held.host_ports) {
    free &= instance.ports_held.emplace(port, task).second;
  }
  for (const GpuAssignment& given : held.gpus) {
    GpuSlot* const gpu = gpu_of(instance, given.gpu);
    free &= gpu != nullptr;
    if (gpu == nullptr) continue;
    free &= given.shared ? gpu->state != GpuState::Dedicated : gpu->holders.empty();
    const int64_t memory = given.shared ? given.memory_mib : gpu->device.memory_mib;
    const int32_t milli = given.shared ? given.milli : whole_gpu_milli;
    gpu->holders.push_back({task, given.container, memory, milli});
    if (gpu->state == GpuState::Quarantined) continue;
    gpu->state = given.shared ? GpuState::NvidiaMps : GpuState::Dedicated;
  }
  return free;
}

void give_back(ContainerInstance& instance, const TaskArn& task, const HeldResources& held) {
  instance.cpu_units_held -= held.cpu_units;
  instance.memory_mib_held -= held.memory_mib;
  for (const HostPort& port : held.host_ports) instance.ports_held.erase(port);
  for (GpuSlot& gpu : instance.gpus) {
    const size_t erased =
        std::erase_if(gpu.holders, [&](const GpuHolder& holder) { return holder.task == task; });
    const bool free = erased > 0 && gpu.holders.empty();
    if (free && gpu.state != GpuState::Quarantined) gpu.state = GpuState::Idle;
  }
}

void refresh_gpu(const ClusterState& state, GpuSlot& gpu) {
  if (gpu.state == GpuState::Quarantined) return;
  gpu.reason.clear();
  if (gpu.holders.empty()) {
    gpu.state = GpuState::Idle;
    return;
  }
  const auto stopping = [&](const GpuHolder& holder) {
    const Task* const task = find_task(state, holder.task);
    return task != nullptr && task->desired_status == TaskStatus::Stopped;
  };
  if (std::ranges::all_of(gpu.holders, stopping)) {
    gpu.state = GpuState::Releasing;
    gpu.reason = base::format("task {} is stopping", short_id(gpu.holders.front().task.str()));
    return;
  }
  gpu.state =
      gpu.holders.front().milli == whole_gpu_milli ? GpuState::Dedicated : GpuState::NvidiaMps;
}

void count_status(ClusterState& state, const Task& task, int32_t by) {
  ContainerInstance& instance = instance_with(state, task);
  if (task.last_status == TaskStatus::Running) {
    instance.running_tasks += by;
  } else if (task.last_status < TaskStatus::Running) {
    instance.pending_tasks += by;
  }
}

bool hold(ClusterState& state, const Task& task) {
  ContainerInstance& instance = instance_with(state, task);
  if (!take(instance, task.arn, task.held)) return false;
  for (const GpuAssignment& given : task.held.gpus) {
    refresh_gpu(state, *gpu_of(instance, given.gpu));
  }
  CHECK(instance.tasks.insert(task.arn).second);
  ++instance.task_groups[task.group];
  count_status(state, task, +1);
  state.tasks_by_group[{task.cluster, task.group}].insert(task.arn);
  return true;
}

void wait(ClusterState& state, const Task& task) {
  state.tasks_by_group[{task.cluster, task.group}].insert(task.arn);
  state.waiting_tasks[task.cluster].insert(task.arn);
}

void wait_no_more(ClusterState& state, const Task& task) {
  leave_group(state, task);
  const auto waiting = state.waiting_tasks.find(task.cluster);
  CHECK(waiting != state.waiting_tasks.end() && waiting->second.erase(task.arn) == 1);
  if (waiting->second.empty()) state.waiting_tasks.erase(waiting);
}

void let_go(ClusterState& state, const Task& task) {
  ContainerInstance& instance = instance_with(state, task);
  give_back(instance, task.arn, task.held);
  for (GpuSlot& gpu : instance.gpus) refresh_gpu(state, gpu);
  instance.tasks.erase(task.arn);
  const auto in_group = instance.task_groups.find(task.group);
  CHECK(in_group != instance.task_groups.end());
  if (--in_group->second == 0) instance.task_groups.erase(in_group);
  leave_group(state, task);
}

void check_invariants(const ClusterState& state) {
  for (const auto& [arn, instance] : state.instances) {
    CHECK(instance.arn == arn);
    int64_t cpu_units = 0;
    int64_t memory_mib = 0;
    size_t ports = 0;
    std::map<std::string, size_t> holders;
    std::map<std::string, int32_t, std::less<>> groups;
    for (const TaskArn& task_arn : instance.tasks) {
      const Task* const task = find_task(state, task_arn);
      CHECK(task != nullptr && task->instance == arn);
      CHECK(task->last_status != TaskStatus::Stopped);
      cpu_units += task->held.cpu_units;
      memory_mib += task->held.memory_mib;
      ports += task->held.host_ports.size();
      ++groups[task->group];
      for (const GpuAssignment& held : task->held.gpus) ++holders[held.gpu];
    }
    CHECK(cpu_units == instance.cpu_units_held);
    CHECK(memory_mib == instance.memory_mib_held);
    CHECK(ports == instance.ports_held.size());
    CHECK(groups == instance.task_groups);
    for (const GpuSlot& gpu : instance.gpus) {
      CHECK(gpu.holders.size() == holders[gpu.device.uuid]);
      int64_t held_mib = 0;
      for (const GpuHolder& holder : gpu.holders) held_mib += holder.memory_mib;
      CHECK(held_mib <= gpu.device.memory_mib || gpu.holders.size() <= 1);
    }
  }
  size_t held = 0;
  for (const auto& [arn, task] : state.tasks) {
    if (task.last_status == TaskStatus::Stopped) {
      CHECK(state.stopped_tasks.contains({*task.stopped_at, arn}));
      continue;
    }
    ++held;
    CHECK(state.tasks_by_group.at({task.cluster, task.group}).contains(arn));
    const auto waiting = state.waiting_tasks.find(task.cluster);
    const bool waits = waiting != state.waiting_tasks.end() && waiting->second.contains(arn);
    CHECK(waits == task.waiting.has_value() && waits == task.instance.str().empty());
  }
  CHECK(held + state.stopped_tasks.size() == state.tasks.size());
}

}  // namespace model
