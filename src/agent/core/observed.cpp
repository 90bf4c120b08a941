// What a container does, as it is seen: from Docker's word and the kernel's to its status.

#include <algorithm>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/container_network.h"
#include "agent/core/container_truth.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

constexpr std::string_view out_of_memory = "OutOfMemoryError: Container killed due to memory usage";
constexpr std::string_view lost_reason =
    "DockerStateError: its program ran, and Docker, which was restarted, did not know it any more; "
    "Berth has ended it.";
constexpr std::string_view gone_reason =
    "DockerStateError: its program has ended; Docker, which was restarted, still says that it "
    "runs.";
constexpr std::string_view forgotten_reason =
    "DockerStateError: it has ended; Docker, which was restarted, does not know any more that it "
    "ran.";
constexpr int32_t killed = 137;  // 128 + SIGKILL.
// A loaded machine was seen to tell of the memory 0.4 s after the end.
constexpr base::Milliseconds memory_event_wait = std::chrono::seconds(2);

void look_soon(const Step& step, ContainerWork& work) {
  work.inspect_wanted = true;
  work.retry_at = step.now + retry_wait(1);
}

// Its program runs although Docker says otherwise, or answered its start with an error: it is
// nobody's, and ends.
void end_unsupervised(Step& step, Task& task, size_t index, const ContainerInfo& info) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  const bool may_be_starting = info.status == RuntimeStatus::Created && work.start_error.empty() &&
                               step.now < work.late_start_until && !task.record.stop_desired;
  if (may_be_starting) return look_soon(step, work);
  work.ending = Ending::Processes;
  // Docker saw its end: what is left are children that its main process has left behind.
  if (work.died_exit_code && info.status != RuntimeStatus::Created) return;
  if (!container.lost_by_docker) {
    note(step, Note::Level::Warning,
         base::format("Container {} of task {} runs, and Docker does not know it: it is ended.",
                      container.name, task.record.arn));
  }
  container.lost_by_docker = true;
  container.status = ContainerStatus::Running;
  if (!container.started_at) container.started_at = info.started_at.value_or(step.now);
  if (container.reason.empty()) {
    container.reason = !work.start_error.empty() ? work.start_error : std::string(lost_reason);
  }
  work.restarting = false;
}

// Docker will hear of its end in a moment, or never.
void doubt(Step& step, Task& task, size_t index) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (!work.doubted_since) work.doubted_since = step.now;
  if (step.now < *work.doubted_since + step.state.config.doubt_wait) return look_soon(step, work);
  container.lost_by_docker = true;
  container.finished_at = step.now;
  if (container.reason.empty()) container.reason = gone_reason;
  mark_stopped(step, task, index);
}

// Made, and not started as far as can be seen.
void apply_created(Step& step, Task& task, size_t index) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (container.status == ContainerStatus::None) container.status = ContainerStatus::Created;
  const bool over = task.record.stop_desired || !work.start_error.empty();
  if (!over || !work.start_asked) return;
  if (step.now < work.late_start_until) return look_soon(step, work);
  if (!work.start_error.empty()) container.reason = work.start_error;
  mark_stopped(step, task, index);
}

void apply_running(Step& step, Task& task, size_t index, const ContainerInfo& info) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (container.status != ContainerStatus::Running || work.restarting) {
    container.started_at = info.started_at.value_or(step.now);
  }
  container.status = ContainerStatus::Running;
  work.restarting = false;
  work.lost_sight = false;
  if (info.processes != Processes::None) work.doubted_since.reset();
  if (has_task_network(task.payload)) {
    refresh_task_network(task);
  } else {
    container.network_bindings =
        network_bindings(task.payload, task.payload.containers[index], info.bindings);
  }
}

bool may_restart(const Task& task, size_t index, int32_t exit_code, base::Time ended) {
  const auto& policy = task.payload.containers[index].restart_policy;
  const ContainerRecord& container = task.record.containers[index];
  if (!policy || !policy->enabled || task.record.stop_desired || !container.started_at) {
    return false;
  }
  if (std::ranges::find(policy->ignored_exit_codes, exit_code) !=
      policy->ignored_exit_codes.end()) {
    return false;
  }
  const auto period = std::chrono::seconds(policy->restart_attempt_period.value_or(300));
  return ended - *container.started_at >= period;
}

// The end looks like one for want of memory, and nobody has said so: Docker's "oom" may come after
// its "die", and its OOMKilled is false then.
bool may_lack_memory(const Task& task, size_t index, const ContainerInfo& info) {
  const ContainerWork& work = task.work[index];
  return info.exit_code == killed && !info.oom_killed && !work.oom && work.stop_attempts == 0 &&
         !task.record.stop_desired &&
         memory_limit(task.payload, task.payload.containers[index]) > 0;
}

bool waits_for_memory_event(Step& step, Task& task, size_t index, const ContainerInfo& info) {
  const base::Time ended = info.finished_at.value_or(base::Time{});
  if (ended > step.now || step.now >= ended + memory_event_wait) return false;
  ContainerWork& work = task.work[index];
  work.inspect_wanted = true;
  work.retry_at = ended + memory_event_wait;
  return true;
}

void apply_exit(Step& step, Task& task, size_t index, const ContainerInfo& info) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (work.restarting) return;  // The end that it is being restarted for.
  const bool start_failed = container.started_at && !work.start_error.empty();
  const bool may_start = start_failed && !container.lost_by_docker;  // It does so once at most.
  if (may_start && step.now < work.late_start_until) return look_soon(step, work);
  if (container.lost_by_docker || start_failed) {
    if (!container.finished_at) container.finished_at = step.now;
    if (container.reason.empty()) container.reason = work.start_error;
    return mark_stopped(step, task, index);
  }
  const bool unexplained = may_lack_memory(task, index, info);
  if (unexplained && waits_for_memory_event(step, task, index, info)) return;
  if (!container.started_at) container.started_at = info.started_at.value_or(step.now);
  container.finished_at = info.finished_at.value_or(step.now);
  container.exit_code = info.exit_code;
  if (may_restart(task, index, info.exit_code, *container.finished_at)) {
    ++container.restart_count;
    container.logs_shipped = false;
    work.restarting = true;
    work.oom = false;
    container.status = ContainerStatus::Running;
    return;
  }
  if (info.oom_killed || work.oom) {
    container.reason = out_of_memory;
  } else if (work.lost_sight && info.exit_code != 0 && !task.record.stop_desired) {
    container.reason =
        "DockerStateError: the container ended while Docker did not answer; a Docker that is "
        "restarted without live-restore stops all containers.";
  } else if (unexplained) {
    container.reason = base::format(
        "Killed by SIGKILL, not by Berth. So end containers at their memory limit ({} MiB), but "
        "Docker did not say that this one was.",
        memory_limit(task.payload, task.payload.containers[index]));
  }
  if (container.reason.empty()) container.reason = work.start_error;
  mark_stopped(step, task, index);
}

// Docker's `created` has nothing to tell of the end.
void apply_end(Step& step, Task& task, size_t index, const ContainerInfo& info) {
  ContainerRecord& container = task.record.containers[index];
  if (info.status == RuntimeStatus::Created && !task.work[index].restarting) {
    container.lost_by_docker = true;
    if (container.reason.empty()) container.reason = forgotten_reason;
  }
  apply_exit(step, task, index, info);
}

}  // namespace

void vanish(Step& step, Task& task, size_t index) {
  ContainerRecord& container = task.record.containers[index];
  const std::optional<int32_t> told = task.work[index].died_exit_code;
  if (told) {
    container.exit_code = told;
    if (task.work[index].oom) container.reason = out_of_memory;
  } else if (container.reason.empty()) {
    container.reason =
        "ContainerVanishedError: the container is gone from Docker; it was removed by somebody "
        "else.";
  }
  task.work[index].removed = true;
  mark_stopped(step, task, index);
}

bool apply_info(Step& step, Task& task, size_t index, const ContainerInfo& info,
                OperationId asked) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (container.status == ContainerStatus::Stopped) return true;
  if (container.runtime_id.empty()) {
    const auto label = info.labels.find(label_of_task);
    if (label == info.labels.end() || label->second != task.record.arn) return false;
    container.runtime_id = info.runtime_id;
    step.state.task_of_container[info.runtime_id] = task.record.arn;
  }
  work.create_unsure = false;
  work.may_exist = true;
  if (!info.image_id.empty()) container.image_id = info.image_id;
  work.ip_addresses = info.ip_addresses;
  if (info.created_at) work.created_at = info.created_at;
  if (asked >= work.health_as_of) {
    if (work.health != info.health) work.health_since = step.now;
    work.health = info.health;
    work.health_output = info.health_output;
    work.health_as_of = asked;
  }
  Truth truth = truth_of(info.status, info.processes, container.started_at.has_value());
  const bool unwanted = !work.start_error.empty() || container.lost_by_docker;
  if (truth == Truth::Runs && unwanted) truth = Truth::Lingers;
  switch (truth) {
    case Truth::NotStarted:
      apply_created(step, task, index);
      break;
    case Truth::Runs:
      apply_running(step, task, index, info);
      break;
    case Truth::Doubtful:
      apply_running(step, task, index, info);
      doubt(step, task, index);
      break;
    case Truth::Lingers:
      end_unsupervised(step, task, index, info);
      break;
    case Truth::Ended:
      apply_end(step, task, index, info);
      break;
  }
  return true;
}

void refuse_stranger(Step& step, Task& task, size_t index) {
  std::string& name = task.record.containers[index].docker_name;
  const std::string reason = base::format(
      "CannotCreateContainerError: the name {} is taken by a container of somebody else.", name);
  name.clear();  // So that the clean-up leaves it alone.
  fail_container(step, task, index, reason);
}

void lose_container(Step& step, Task& task, size_t index) {
  ContainerWork& work = task.work[index];
  if (task.record.containers[index].status == ContainerStatus::Stopped) return;
  if (!work.start_asked) return vanish(step, task, index);
  work.vanished = true;
  work.ending = Ending::Processes;
}

}  // namespace agent::core
