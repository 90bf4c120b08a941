// The end of a task: its output is delivered, its GPUs are proven empty, its containers removed.

#include <algorithm>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

constexpr base::Milliseconds log_retry = std::chrono::seconds(1);
constexpr base::Milliseconds removal_retry_max = std::chrono::minutes(5);
// Containers whose output cannot be delivered are not kept for ever.
constexpr base::Milliseconds log_patience = std::chrono::hours(24);

bool has_output(const ContainerRecord& container) {
  return !container.runtime_id.empty() && container.started_at.has_value();
}

bool ships_logs(const Task& task, size_t index) {
  const auto& config = task.payload.containers[index].docker_config;
  return config && config->host_config.find("\"awslogs\"") != std::string::npos;
}

// The other tasks that may have something on the GPU: they run, or their own release is not proven.
std::vector<const Task*> others_on(const State& state, const Task& task, const GpuWork& gpu) {
  std::vector<const Task*> found;
  for (const auto& [arn, other] : state.tasks) {
    if (arn == task.record.arn || !other.admitted) continue;
    if (other.all_stopped() && gpus_settled(other)) continue;
    if (std::ranges::find(other.gpus, gpu.uuid, &GpuWork::uuid) != other.gpus.end()) {
      found.push_back(&other);
    }
  }
  return found;
}

// Its own containers, and those that no task answers for, must be gone. What those who share the
// GPU have on it is not held against this task.
ProbeGpu probe_of(const State& state, const Task& task, const GpuWork& gpu) {
  ProbeGpu probe{.uuid = gpu.uuid};
  for (const ContainerRecord& container : task.record.containers) {
    if (!container.runtime_id.empty()) probe.containers.push_back(container.runtime_id);
  }
  for (const auto& [id, stray] : state.strays) probe.containers.push_back(id);
  if (!gpu.shared) return probe;
  for (const Task* const other : others_on(state, task, gpu)) {
    for (const ContainerRecord& container : other->record.containers) {
      if (!container.runtime_id.empty()) probe.sharers.push_back(container.runtime_id);
    }
  }
  return probe;
}

void settle(Task& task, GpuWork& gpu, bool empty, std::string reason) {
  gpu.settled = true;
  gpu.detail = std::move(reason);
  api::ecs::BerthGpuRelease& release = task.record.gpu_release.emplace_back();
  release.gpu_id = gpu.uuid;
  release.empty = empty;
  if (!gpu.detail.empty()) release.reason = gpu.detail;
}

// The task that has the GPU, of those which this one would not share it with.
const Task* holder_of(const GpuWork& gpu, const std::vector<const Task*>& others) {
  const auto found = std::ranges::find_if(others, [&](const Task* other) {
    return !gpu.shared || !std::ranges::find(other->gpus, gpu.uuid, &GpuWork::uuid)->shared;
  });
  return found == others.end() ? nullptr : *found;
}

// The task was stopped before it was admitted: it never was on the GPU, and others may be. True:
// there is nothing to look at now.
bool leaves_to_others(const State& state, Task& task, GpuWork& gpu) {
  if (task.admitted) return false;
  const std::vector<const Task*> others = others_on(state, task, gpu);
  if (others.empty()) return false;
  if (const Task* const holder = holder_of(gpu, others)) {
    gpu.detail = base::format("task {} is on it", holder->record.arn);
  } else {
    settle(task, gpu, true, "others share it; this task never had its share");
  }
  return true;
}

void touch_those_waiting_for_gpus(Step& step) {
  for (const auto& [arn, task] : step.state.tasks) {
    if (!task.admitted && !task.gpus.empty()) step.touched.insert(arn);
  }
}

base::Milliseconds removal_wait(uint32_t attempts) {
  return std::min<base::Milliseconds>(std::chrono::seconds(int64_t{1} << std::min(attempts, 9U)),
                                      removal_retry_max);
}

// True: all containers that may exist are gone.
bool remove_containers(Step& step, Task& task) {
  bool all_gone = true;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    const ContainerRecord& container = task.record.containers[i];
    ContainerWork& work = task.work[i];
    const bool may_exist = work.may_exist || !container.runtime_id.empty();
    if (work.removed || !may_exist || container.docker_name.empty()) continue;
    all_gone = false;
    if (work.operation != 0) continue;
    if (step.now < work.retry_at) {
      look_again(task, work.retry_at);
      continue;
    }
    work.operation =
        begin(step, {.kind = Target::Kind::Removal, .task = task.record.arn, .index = i},
              RemoveContainer{container.runtime_id.empty() ? container.docker_name
                                                           : container.runtime_id});
  }
  return all_gone;
}

bool remove_volumes(Step& step, Task& task) {
  bool all_gone = true;
  for (size_t i = 0; i < task.volumes.size(); ++i) {
    VolumeWork& volume = task.volumes[i];
    if (volume.removed || !volume.of_the_task) continue;
    all_gone = false;
    if (volume.operation != 0) continue;
    if (step.now < volume.retry_at) {
      look_again(task, volume.retry_at);
      continue;
    }
    volume.operation =
        begin(step, {.kind = Target::Kind::VolumeRemoval, .task = task.record.arn, .index = i},
              RemoveVolume{volume.docker_name});
  }
  return all_gone;
}

}  // namespace

bool logs_delivered(const Task& task) {
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    const ContainerRecord& container = task.record.containers[i];
    if (has_output(container) && !task.work[i].removed && ships_logs(task, i) &&
        !container.logs_shipped) {
      return false;
    }
  }
  return true;
}

bool gpus_settled(const Task& task) {
  return std::ranges::all_of(task.gpus, [](const GpuWork& gpu) { return gpu.settled; });
}

void advance_logs(Step& step, Task& task) {
  if (!step.state.runtime_ready) return;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    const ContainerRecord& container = task.record.containers[i];
    ContainerWork& work = task.work[i];
    if (!has_output(container) || container.logs_shipped || work.removed) continue;
    if (work.log_operation != 0) continue;
    if (step.now < work.log_retry_at) {
      look_again(task, work.log_retry_at);
      continue;
    }
    std::optional<ShipLogs> shipping = log_shipping(step.state.config, task, i);
    if (!shipping) continue;
    work.log_operation =
        begin(step, {.kind = Target::Kind::Logs, .task = task.record.arn, .index = i},
              std::move(*shipping));
  }
}

void on_log_result(Step& step, Task& task, const Target& target, const OperationResult& result) {
  ContainerWork& work = task.work[target.index];
  ContainerRecord& container = task.record.containers[target.index];
  work.log_operation = 0;
  if (result || result.error().cause == Cause::NotFound) {
    // While it runs there is more to come: it was restarted, or its end is not known here yet.
    container.logs_shipped = container.status == ContainerStatus::Stopped;
    if (!container.logs_shipped) work.log_retry_at = step.now + log_retry;
    return;
  }
  work.log_retry_at = step.now + log_retry;
  note(step, Note::Level::Warning,
       base::format("The output of container {} of task {} is not delivered: {}", container.name,
                    task.record.arn, result.error().message));
}

void advance_release(Step& step, Task& task) {
  if (!task.all_stopped() || gpus_settled(task)) return;
  const base::Time deadline = *task.record.stopped_at + step.state.config.gpu_release_timeout;
  for (size_t i = 0; i < task.gpus.size(); ++i) {
    GpuWork& gpu = task.gpus[i];
    if (gpu.settled) continue;
    const bool left = leaves_to_others(step.state, task, gpu);
    if (gpu.settled) continue;
    if (step.now >= deadline) {
      settle(task, gpu, false,
             gpu.detail.empty() ? "the GPU could not be looked at in time" : gpu.detail);
      continue;
    }
    look_again(task, deadline);
    // What Docker has from before this process is not known yet.
    if (gpu.operation != 0 || left || !step.state.snapshot_taken) continue;
    if (step.now < gpu.retry_at) {
      look_again(task, gpu.retry_at);
      continue;
    }
    gpu.operation = begin(step, {.kind = Target::Kind::Gpu, .task = task.record.arn, .index = i},
                          probe_of(step.state, task, gpu));
  }
  if (gpus_settled(task)) touch_those_waiting_for_gpus(step);
}

void on_gpu_result(Step& step, Task& task, const Target& target, const OperationResult& result) {
  GpuWork& gpu = task.gpus[target.index];
  gpu.operation = 0;
  if (gpu.settled) return;
  const GpuUse* use = result ? std::get_if<GpuUse>(&*result) : nullptr;
  if (use != nullptr && use->empty) {
    settle(task, gpu, true, "");
    if (gpus_settled(task)) touch_those_waiting_for_gpus(step);
    return;
  }
  if (!result && result.error().cause == Cause::NotFound) {
    settle(task, gpu, true, "this container instance has no such GPU");
    if (gpus_settled(task)) touch_those_waiting_for_gpus(step);
    return;
  }
  gpu.detail = use != nullptr ? use->detail : result ? "" : result.error().message;
  gpu.retry_at = step.now + step.state.config.gpu_probe_interval;
}

bool advance_cleanup(Step& step, Task& task) {
  if (!task.settled()) return false;
  base::Time due = *task.record.stopped_at;
  if (!step.state.disk_low) due += step.state.config.cleanup_wait;
  if (!logs_delivered(task)) due = std::max(due, *task.record.stopped_at + log_patience);
  if (step.now < due) {
    look_again(task, due);
    return false;
  }
  if (!step.state.runtime_ready) return false;
  return remove_containers(step, task) && remove_volumes(step, task);
}

void on_removal_result(Step& step, Task& task, const Target& target,
                       const OperationResult& result) {
  const bool is_volume = target.kind == Target::Kind::VolumeRemoval;
  OperationId& operation =
      is_volume ? task.volumes[target.index].operation : task.work[target.index].operation;
  operation = 0;
  if (result || result.error().cause == Cause::NotFound) {
    (is_volume ? task.volumes[target.index].removed : task.work[target.index].removed) = true;
    return;
  }
  if (result.error().cause == Cause::Unreachable) return;
  uint32_t& attempts =
      is_volume ? task.volumes[target.index].attempts : task.work[target.index].attempts;
  const base::Time again = step.now + removal_wait(attempts++);
  (is_volume ? task.volumes[target.index].retry_at : task.work[target.index].retry_at) = again;
  note(step, Note::Level::Warning,
       base::format("What is left of task {} cannot be removed: {}: {}", task.record.arn,
                    result.error().code, result.error().message));
}

}  // namespace agent::core
