// Starting and stopping: whatever is possible now for one task.

#include <algorithm>
#include <utility>
#include <variant>

#include "agent/core/bounds_check.h"
#include "agent/core/container_body.h"
#include "agent/core/container_network.h"
#include "agent/core/container_volumes.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

constexpr uint32_t stops_before_kill = 2;
constexpr std::string_view pause_ended =
    "ContainerNetworkingError: the container that holds the task's namespaces was stopped by "
    "somebody else.";
// Source: amazon-ecs-agent, agent/engine/docker_task_engine.go: 1.1 s to 5 s between pulls.
constexpr base::Milliseconds retry_min = std::chrono::milliseconds(1100);
constexpr base::Milliseconds retry_max = std::chrono::seconds(5);

void issue(Step& step, Task& task, size_t index, Request request) {
  if (std::holds_alternative<StartContainer>(request)) task.work[index].start_asked = true;
  task.work[index].operation =
      begin(step, {.kind = Target::Kind::Container, .task = task.record.arn, .index = index},
            std::move(request));
}

// Whether another task still has, or comes first for, a GPU that this one wants. Both may have it
// when both share it, unless the share of the other is counted nowhere any more.
bool has_to_wait_for_gpus(const State& state, const Task& task) {
  if (task.gpus.empty()) return false;
  for (const auto& [arn, other] : state.tasks) {
    if (arn == task.record.arn || (other.all_stopped() && gpus_settled(other))) continue;
    const auto mine = std::pair(task.record.created_at, std::string_view(task.record.arn));
    const auto theirs = std::pair(other.record.created_at, std::string_view(arn));
    if (!other.admitted && mine < theirs) continue;
    for (const GpuWork& wanted : task.gpus) {
      const auto held = std::ranges::find(other.gpus, wanted.uuid, &GpuWork::uuid);
      if (held == other.gpus.end()) continue;
      if (other.record.given_up || !held->shared || !wanted.shared) return true;
    }
  }
  return false;
}

bool wants_lookup(const Config& config, const State& state, const std::string& image) {
  switch (config.pull_behavior) {
    case PullBehavior::PreferCached:
      return true;
    case PullBehavior::Once:
      return state.pulled_images.contains(image);
    case PullBehavior::Default:
    case PullBehavior::Always:
      return false;
  }
  return false;
}

// What is fetched with the keys of the execution role has to wait for them: they are in nobody's
// journal, and the control plane sends them again.
bool waits_for_keys(const Task& task, bool needed) {
  return needed && task.payload.execution_role_credentials && !task.has_execution_keys;
}

void get_image(Step& step, Task& task, size_t index) {
  ContainerWork& work = task.work[index];
  const acs::Container& container = task.payload.containers[index];
  if (!task.record.pull_started_at) task.record.pull_started_at = step.now;
  if (work.image == ImageStep::Undecided) {
    const bool lookup =
        is_pause(container) || wants_lookup(step.state.config, step.state, container.image);
    work.image = lookup ? ImageStep::Lookup : ImageStep::Pull;
  }
  if (work.image == ImageStep::Pull) {
    if (waits_for_keys(task, container.registry_authentication.has_value())) return;
    task.pulled = true;
    begin_pull(step, task, index);
    return issue(step, task, index,
                 PullImage{container.image, container.registry_authentication, task.record.arn});
  }
  issue(step, task, index, InspectImage{container.image});
}

// True: all volumes are there.
bool make_volumes(Step& step, Task& task) {
  bool ready = true;
  for (size_t i = 0; i < task.volumes.size(); ++i) {
    VolumeWork& volume = task.volumes[i];
    ready = ready && volume.ready;
    if (volume.ready || volume.operation != 0) continue;
    if (!may_make(step.state.config, task.payload, volume)) {
      volume.ready = true;  // Its containers are refused, with the reason.
      continue;
    }
    if (step.now < volume.retry_at) {
      look_again(task, volume.retry_at);
      continue;
    }
    volume.operation =
        begin(step, {.kind = Target::Kind::Volume, .task = task.record.arn, .index = i},
              create_volume_request(task.payload, volume));
  }
  return ready;
}

// False: the gate is shut, now or for good.
bool passes(Step& step, Task& task, size_t index, const Gate& gate) {
  if (gate.check) look_again(task, *gate.check);
  if (!gate.failure.empty()) {
    const std::string reason = "TaskDependencyError: " + gate.failure;
    fail_container(step, task, index, reason);
    begin_stop(step, task, reason);
    return false;
  }
  return gate.open;
}

void create(Step& step, Task& task, size_t index) {
  if (!passes(step, task, index, create_gate(task, index, step.now))) return;
  const acs::Container& container = task.payload.containers[index];
  if (waits_for_keys(task, !container.secrets.empty() || !container.environment_files.empty())) {
    return;
  }
  base::Result<CreateContainer> request = create_request(step.state.config, task, index);
  if (!request) {
    return fail_container(step, task, index, request.error().code + ": " + request.error().message);
  }
  task.work[index].may_exist = true;
  task.work[index].create_unsure = true;
  issue(step, task, index, std::move(*request));
}

// The next step of a container that is to run.
void advance_container(Step& step, Task& task, size_t index, bool volumes_ready) {
  const ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  switch (container.status) {
    case ContainerStatus::None:
      if (work.image != ImageStep::Ready) return get_image(step, task, index);
      if (volumes_ready) create(step, task, index);
      return;
    case ContainerStatus::Created:
      if (passes(step, task, index, start_gate(task, index, step.now))) {
        issue(step, task, index, StartContainer{container.runtime_id});
      }
      return;
    case ContainerStatus::Running:
      if (work.restarting) issue(step, task, index, StartContainer{container.runtime_id});
      return;
    case ContainerStatus::Stopped:
      return;
  }
}

// True: the container waits for an answer, or for its time.
bool is_busy(Step& step, Task& task, size_t index) {
  ContainerWork& work = task.work[index];
  if (work.operation != 0) return true;
  if (step.now < work.retry_at) {
    look_again(task, work.retry_at);
    return true;
  }
  const ContainerRecord& container = task.record.containers[index];
  const Ending ending = std::exchange(work.ending, Ending::No);
  if (ending == Ending::Processes) {
    issue(step, task, index, EndProcesses{container.runtime_id});
    return true;
  }
  if (ending == Ending::Container) {
    issue(step, task, index, KillContainer{container.runtime_id});
    return true;
  }
  if (!work.inspect_wanted) return false;
  work.inspect_wanted = false;
  issue(step, task, index,
        InspectContainer{container.runtime_id.empty() ? container.docker_name
                                                      : container.runtime_id});
  return true;
}

void advance_start(Step& step, Task& task) {
  if (!step.state.runtime_ready) return;
  if (!task.admitted && has_to_wait_for_gpus(step.state, task)) return;
  task.admitted = true;
  const bool volumes_ready = make_volumes(step, task);
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    if (task.record.stop_desired) return;
    if (task.record.containers[i].status == ContainerStatus::Stopped) continue;
    if (!is_busy(step, task, i)) advance_container(step, task, i, volumes_ready);
  }
  const bool images_ready = std::ranges::all_of(
      task.work, [](const ContainerWork& work) { return work.image == ImageStep::Ready; });
  if (images_ready && task.record.pull_started_at && !task.record.pull_stopped_at) {
    task.record.pull_stopped_at = step.now;
  }
}

// What only prepares the container needs no end of its own.
bool break_off_image(Step& step, Task& task, size_t index) {
  ContainerWork& work = task.work[index];
  const bool preparing = task.record.containers[index].status == ContainerStatus::None &&
                         work.operation != 0 && !work.create_unsure;
  if (!preparing) return false;
  step.out.cancelled.push_back(work.operation);
  step.state.operations.erase(work.operation);
  work.operation = 0;
  return true;
}

void stop_running(Step& step, Task& task, size_t index) {
  if (!may_stop(task, index)) return;
  ContainerWork& work = task.work[index];
  const std::string& id = task.record.containers[index].runtime_id;
  if (work.stop_attempts++ >= stops_before_kill) {
    // Where Docker's kill does nothing either, what is in the cgroup is killed; then again.
    const bool through_docker = (work.stop_attempts - stops_before_kill) % 2 == 1;
    if (!through_docker) return issue(step, task, index, EndProcesses{id});
    return issue(step, task, index, KillContainer{id});
  }
  const std::optional<int32_t>& given = task.payload.containers[index].stop_timeout;
  const base::Milliseconds timeout =
      given ? base::Milliseconds(std::chrono::seconds(*given)) : step.state.config.stop_timeout;
  issue(step, task, index, StopContainer{id, timeout});
}

// True when it is stopped at once, since nothing of it ever ran.
bool stop_container(Step& step, Task& task, size_t index) {
  const ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (container.status == ContainerStatus::Stopped) return false;
  break_off_image(step, task, index);
  if (work.operation != 0) return false;
  if (work.restarting) {  // Has it been started again already?
    work.restarting = false;
    work.inspect_wanted = true;
  }
  const bool never_ran = (container.status == ContainerStatus::None && !work.create_unsure) ||
                         (container.status == ContainerStatus::Created && !work.start_asked);
  if (never_ran && (step.state.runtime_ready || container.status == ContainerStatus::None) &&
      !work.inspect_wanted) {
    mark_stopped(step, task, index);
    return true;
  }
  if (!step.state.runtime_ready || is_busy(step, task, index)) return false;
  if (container.status != ContainerStatus::Running) {
    work.inspect_wanted = true;  // Is there one of that name? Did its start come true?
    is_busy(step, task, index);
  } else if (container.status == ContainerStatus::Running) {
    stop_running(step, task, index);
  }
  return false;
}

// Dependents come before what they depend on; the rest at the same time. Each stop may open the
// way for the next, within this very step when nothing of it ever ran.
void advance_stop(Step& step, Task& task) {
  bool progress = true;
  while (progress) {
    progress = false;
    for (size_t i = 0; i < task.record.containers.size(); ++i) {
      if (stop_container(step, task, i)) progress = true;
    }
  }
}

bool is_steady(const Task& task, size_t index) {
  const ContainerRecord& container = task.record.containers[index];
  if (container.status == ContainerStatus::Stopped) return true;
  const ContainerWork& work = task.work[index];
  return container.status == ContainerStatus::Running && work.operation == 0 &&
         !work.inspect_wanted && !container.lost_by_docker;
}

void note_progress(Step& step, Task& task) {
  bool steady = true;
  bool stopped = true;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    steady = steady && is_steady(task, i);
    stopped = stopped && task.record.containers[i].status == ContainerStatus::Stopped;
  }
  if (stopped) {
    task.record.stopped_at = step.now;
    if (!task.record.execution_stopped_at) task.record.execution_stopped_at = step.now;
    task.record.stop_desired = true;
    note(step, Note::Level::Info,
         base::format("Task {} has stopped{}{}.", task.record.arn,
                      task.record.stop_reason.empty() ? "" : ": ", task.record.stop_reason));
  } else if (steady && !task.record.reached_running && !task.record.stop_desired) {
    task.record.reached_running = true;
    note(step, Note::Level::Info, base::format("Task {} is running.", task.record.arn));
  }
}

}  // namespace

void look_again(Task& task, base::Time when) {
  task.timer = std::min(task.timer, when);
}

base::Milliseconds retry_wait(uint32_t attempts) {
  return std::min(retry_min * (int64_t{1} << std::min(attempts, 8U)) / 2, retry_max);
}

void begin_stop(Step& step, Task& task, const std::string& reason) {
  if (task.record.stop_desired) return;  // The first reason stands.
  task.record.stop_desired = true;
  task.record.stop_reason = reason;
  for (ContainerWork& work : task.work) work.retry_at = step.now;  // No more waiting to start.
  step.touched.insert(task.record.arn);
}

void fail_container(Step& step, Task& task, size_t index, const std::string& reason) {
  task.record.containers[index].reason = reason;
  mark_stopped(step, task, index);
}

void mark_stopped(Step& step, Task& task, size_t index) {
  ContainerRecord& container = task.record.containers[index];
  container.status = ContainerStatus::Stopped;
  task.work[index].restarting = false;
  task.work[index].inspect_wanted = false;
  step.touched.insert(task.record.arn);
  if (!task.payload.containers[index].essential || task.record.stop_desired) return;
  task.record.execution_stopped_at = step.now;
  // Nobody is told of the pause container but through the task.
  const bool pause = is_pause(task.payload.containers[index]);
  if (pause && container.reason.empty()) container.reason = pause_ended;
  // That an essential container exited the control plane sees from the exit code; what kept one
  // from running is the reason of the whole task.
  const bool ran = !pause && container.started_at.has_value() && container.exit_code.has_value();
  begin_stop(step, task, ran ? std::string() : container.reason);
}

void advance(Step& step, Task& task) {
  if (task.all_stopped()) return;
  if (!task.record.stop_desired) advance_start(step, task);
  if (task.record.stop_desired) advance_stop(step, task);
  note_progress(step, task);
}

}  // namespace agent::core
