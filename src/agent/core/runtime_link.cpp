// Whether Docker answers; what it has, after it was away; what happens in it.

#include <algorithm>
#include <map>
#include <utility>

#include "agent/core/container_truth.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

constexpr base::Milliseconds snapshot_retry_min = std::chrono::milliseconds(500);
constexpr base::Milliseconds snapshot_retry_max = std::chrono::seconds(30);

base::Milliseconds snapshot_wait(uint32_t attempts) {
  const base::Milliseconds wait = snapshot_retry_min * (int64_t{1} << std::min(attempts, 6U));
  return std::min(wait, snapshot_retry_max);
}

using Index = std::map<std::string_view, const ContainerInfo*>;

// A snapshot is a little old when it arrives: what it cannot prove is asked for again.
void reconcile(Step& step, Task& task, size_t index, const Index& by_id, const Index& by_name,
               OperationId asked) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (container.status == ContainerStatus::Stopped) return;
  if (work.operation != 0) {
    work.inspect_wanted = work.inspect_wanted || container.status != ContainerStatus::None;
    return;
  }
  const auto found = container.runtime_id.empty() ? by_name.find(container.docker_name)
                                                  : by_id.find(container.runtime_id);
  const bool there = found != (container.runtime_id.empty() ? by_name.end() : by_id.end());
  if (container.status == ContainerStatus::None) {
    if (!there) {
      work.create_unsure = false;
    } else if (!apply_info(step, task, index, *found->second, asked)) {
      refuse_stranger(step, task, index);
    }
    return;
  }
  const Truth truth = !there ? Truth::Ended
                             : truth_of(found->second->status, found->second->processes,
                                        container.started_at.has_value());
  if (truth == Truth::Runs) {
    apply_info(step, task, index, *found->second, asked);
  } else if (truth != Truth::NotStarted) {
    work.inspect_wanted = true;
  }
}

}  // namespace

void on_runtime_ready(Step& step) {
  State& state = step.state;
  state.subscribed = true;
  state.snapshot_attempts = 0;
  state.snapshot_at = step.now;
}

void lose_runtime(Step& step, const std::string& reason) {
  State& state = step.state;
  state.runtime_reason = reason;
  // A snapshot in flight may have been taken before the loss.
  if (state.snapshot != 0) state.operations.erase(state.snapshot);
  state.snapshot = 0;
  state.snapshot_at = step.now + snapshot_wait(state.snapshot_attempts);
  if (!state.runtime_ready) return;
  state.runtime_ready = false;
  state.runtime_lost_at = step.now;
  note(step, Note::Level::Warning,
       base::format("Docker does not answer: {}. Containers are left as they are.", reason));
  for (auto& [arn, task] : state.tasks) {
    for (size_t i = 0; i < task.work.size(); ++i) {
      task.work[i].lost_sight =
          task.work[i].lost_sight || task.record.containers[i].status == ContainerStatus::Running;
    }
  }
}

void tick_snapshot(Step& step) {
  State& state = step.state;
  if (!state.subscribed || state.snapshot != 0 || step.now < state.snapshot_at) return;
  state.snapshot =
      begin(step, Target{}, ListContainers{state.config.agent_name, state.config.agent_data});
}

void on_snapshot(Step& step, const OperationResult& result) {
  State& state = step.state;
  const OperationId asked = std::exchange(state.snapshot, 0);
  const Snapshot* snapshot = result ? std::get_if<Snapshot>(&*result) : nullptr;
  if (snapshot == nullptr) {
    const std::string reason = result ? "no list of containers was given" : result.error().message;
    ++state.snapshot_attempts;
    lose_runtime(step, reason);
    return;
  }
  state.snapshot_attempts = 0;
  state.snapshot_taken = true;
  // Up to 30 s earlier or later, so that many agents do not ask at once.
  state.snapshot_at = step.now + state.config.snapshot_interval - std::chrono::seconds(30) +
                      base::Milliseconds{static_cast<int64_t>(state.random.below(60'000))};
  if (!state.runtime_ready) {
    state.runtime_ready = true;
    state.runtime_loss_told = false;
    state.runtime_reason.clear();
    note(step, Note::Level::Info,
         base::format("Docker answers; it has {} of this agent's containers.",
                      snapshot->containers.size()));
  }
  Index by_id;
  Index by_name;
  for (const ContainerInfo& info : snapshot->containers) {
    by_id.emplace(info.runtime_id, &info);
    by_name.emplace(info.name, &info);
  }
  for (auto& [arn, task] : state.tasks) {
    for (size_t i = 0; i < task.record.containers.size(); ++i) {
      reconcile(step, task, i, by_id, by_name, asked);
    }
  }
  find_strays(step, *snapshot);
  touch_all(step);
}

void on_event(Step& step, const ContainerEvent& event) {
  const auto arn = step.state.task_of_container.find(event.runtime_id);
  if (arn == step.state.task_of_container.end()) return;
  const auto found = step.state.tasks.find(arn->second);
  if (found == step.state.tasks.end()) return;
  Task& task = found->second;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    if (task.record.containers[i].runtime_id != event.runtime_id) continue;
    ContainerWork& work = task.work[i];
    switch (event.kind) {
      case EventKind::Created:
      case EventKind::Started:
      case EventKind::Other:
        break;
      case EventKind::Died:
        work.died_exit_code = event.exit_code;
        work.inspect_wanted = true;
        break;
      case EventKind::OutOfMemory:
        work.oom = true;
        if (work.inspect_wanted) work.retry_at = step.now;
        break;
      case EventKind::Destroyed:
        work.inspect_wanted = true;
        break;
      case EventKind::HealthChanged:
        if (work.health != event.health) work.health_since = step.now;
        work.health = event.health;
        work.health_as_of = step.state.next_id;
        break;
    }
  }
  step.touched.insert(arn->second);
}

}  // namespace agent::core
