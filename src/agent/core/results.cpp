// What became of an operation on a container or volume.

#include <algorithm>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/container_network.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

// Tries of a create, start or volume whose outcome stays unknown.
constexpr uint32_t most_attempts = 3;

constexpr std::string_view out_of_memory = "OutOfMemoryError: Container killed due to memory usage";
constexpr int32_t killed = 137;  // 128 + SIGKILL.
// A loaded machine was seen to tell of the memory 0.4 s after the end.
constexpr base::Milliseconds memory_event_wait = std::chrono::seconds(2);

std::string reason_of(const OperationError& error) {
  return error.code + ": " + error.message;
}

// Sending it again would have the same end.
bool is_final(Cause cause) {
  return cause == Cause::Denied || cause == Cause::NotFound || cause == Cause::BadParameter ||
         cause == Cause::NoSpace;
}

void take_image(Task& task, size_t index, const ImageInfo& image) {
  ContainerRecord& container = task.record.containers[index];
  container.image_id = image.id;
  container.image_digest = image.digest;
  task.work[index].image_asks_for_gpus = std::ranges::any_of(
      image.environment,
      [](const std::string& entry) { return entry.starts_with("NVIDIA_VISIBLE_DEVICES="); });
  task.work[index].image = ImageStep::Ready;
}

void on_inspect_image(Step& step, Task& task, size_t index, const OperationResult& result) {
  ContainerWork& work = task.work[index];
  if (result) {
    const ImageInfo* image = std::get_if<ImageInfo>(&*result);
    return take_image(task, index, image != nullptr ? *image : ImageInfo{});
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::Unreachable) {  // Asked again when Docker is back.
    if (work.image == ImageStep::Lookup) work.image = ImageStep::Undecided;
    return;
  }
  switch (work.image) {
    case ImageStep::Lookup:
      if (is_pause(task.payload.containers[index])) {
        return fail_container(step, task, index, reason_of(error));
      }
      work.image = ImageStep::Pull;
      return;
    case ImageStep::Fallback:
      return fail_container(step, task, index, work.image_error);
    default:
      return fail_container(step, task, index, reason_of(error));
  }
}

void on_pull(Step& step, Task& task, size_t index, const OperationResult& result) {
  ContainerWork& work = task.work[index];
  const Config& config = step.state.config;
  if (result) {
    step.state.pulled_images.insert(task.payload.containers[index].image);
    work.attempts = 0;
    work.image = ImageStep::Confirm;
    end_pull(task, index);
    return;
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::Unreachable) return;
  if (++work.attempts < config.pull_attempts && !is_final(error.cause)) {
    work.retry_at = step.now + retry_wait(work.attempts);
    return;
  }
  work.image_error = reason_of(error);
  work.attempts = 0;
  if (config.pull_behavior == PullBehavior::Default) {
    work.image = ImageStep::Fallback;
    return;
  }
  fail_container(step, task, index, work.image_error);
}

void on_create(Step& step, Task& task, size_t index, const OperationResult& result) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (result) {
    const CreatedContainer* created = std::get_if<CreatedContainer>(&*result);
    if (created == nullptr) return;
    container.runtime_id = created->runtime_id;
    container.status = ContainerStatus::Created;
    work.created_at = step.now;
    work.create_unsure = false;
    work.attempts = 0;
    step.state.task_of_container[container.runtime_id] = task.record.arn;
    return;
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::Unreachable) return;  // The snapshot will tell.
  const bool unsure = error.cause == Cause::Timeout || error.cause == Cause::Conflict;
  if (unsure && ++work.attempts < most_attempts) {
    work.inspect_wanted = true;  // By its name: it may be there, from this try or an earlier one.
    return;
  }
  work.create_unsure = false;
  fail_container(step, task, index, reason_of(error));
}

void on_start(Step& step, Task& task, size_t index, const OperationResult& result,
              OperationId asked) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (result) {
    const bool again = work.restarting;
    work.restarting = false;
    work.attempts = 0;
    work.died_exit_code.reset();
    if (container.status == ContainerStatus::Created || again) {
      container.status = ContainerStatus::Running;
      container.started_at = step.now;
    }
    if (const ContainerInfo* info = std::get_if<ContainerInfo>(&*result)) {
      apply_info(step, task, index, *info, asked);
      return;
    }
    const acs::Container& given = task.payload.containers[index];
    const bool tells_address = is_pause(given) && has_task_network(task.payload);
    if (tells_address || has_bridge_ports(task.payload, given)) {
      work.inspect_wanted = true;
    } else if (has_task_network(task.payload)) {
      refresh_task_network(task);
    } else {
      container.network_bindings = network_bindings(task.payload, given, {});
    }
    return;
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::Unreachable) return;
  if (error.cause == Cause::NotFound) return apply_vanished(step, task, index);
  if (error.cause == Cause::Timeout) {
    // It may run. If it still does not after some tries the task ends, but only through a stop.
    work.inspect_wanted = true;
    if (++work.attempts < most_attempts) return;
    container.reason = reason_of(error);
    return begin_stop(step, task, container.reason);
  }
  work.restarting = false;
  fail_container(step, task, index, reason_of(error));
}

void on_stop(Step& step, Task& task, size_t index, const OperationResult& result) {
  ContainerWork& work = task.work[index];
  work.inspect_wanted = true;
  if (result) return;
  const OperationError& error = result.error();
  if (error.cause == Cause::Unreachable || error.cause == Cause::NotFound) return;
  work.retry_at = step.now + retry_wait(work.stop_attempts);
  note(step, Note::Level::Warning,
       base::format("Container {} of task {} does not stop: {}", task.record.containers[index].name,
                    task.record.arn, reason_of(error)));
}

void on_inspect(Step& step, Task& task, size_t index, const OperationResult& result,
                OperationId asked) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (result) {
    const ContainerInfo* info = std::get_if<ContainerInfo>(&*result);
    if (info == nullptr) return;
    // A stop that had no effect is not repeated at once.
    if (info->status == RuntimeStatus::Running && work.stop_attempts > 0) {
      work.retry_at = step.now + retry_wait(work.stop_attempts);
    }
    if (apply_info(step, task, index, *info, asked)) return;
    return refuse_stranger(step, task, index);
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::NotFound) {
    if (container.status == ContainerStatus::None) {
      work.create_unsure = false;
    } else {
      apply_vanished(step, task, index);
    }
    return;
  }
  work.inspect_wanted = true;
  work.retry_at = step.now + retry_wait(++work.attempts);
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
  mark_stopped(step, task, index);
}

}  // namespace

void on_container_result(Step& step, Task& task, const Target& target,
                         const OperationResult& result) {
  const OperationId asked = std::exchange(task.work[target.index].operation, 0);
  const auto is = [&](const Request& example) { return target.request == example.index(); };
  if (is(InspectImage{})) return on_inspect_image(step, task, target.index, result);
  if (is(PullImage{})) return on_pull(step, task, target.index, result);
  if (is(CreateContainer{})) return on_create(step, task, target.index, result);
  if (is(StartContainer{})) return on_start(step, task, target.index, result, asked);
  if (is(StopContainer{}) || is(KillContainer{})) return on_stop(step, task, target.index, result);
  return on_inspect(step, task, target.index, result, asked);
}

void on_volume_result(Step& step, Task& task, const Target& target, const OperationResult& result) {
  VolumeWork& volume = task.volumes[target.index];
  volume.operation = 0;
  if (result) {
    volume.ready = true;
    return;
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::Unreachable) return;
  if (error.cause == Cause::Timeout && ++volume.attempts < most_attempts) {
    volume.retry_at = step.now + retry_wait(volume.attempts);
    return;
  }
  begin_stop(step, task, reason_of(error));
}

bool apply_info(Step& step, Task& task, size_t index, const ContainerInfo& info,
                OperationId asked) {
  ContainerRecord& container = task.record.containers[index];
  ContainerWork& work = task.work[index];
  if (container.status == ContainerStatus::Stopped) return true;
  if (container.runtime_id.empty()) {
    const auto label = info.labels.find("com.amazonaws.ecs.task-arn");
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
  switch (info.status) {
    case RuntimeStatus::Created:
      if (container.status == ContainerStatus::None) container.status = ContainerStatus::Created;
      break;
    case RuntimeStatus::Running:
      if (container.status != ContainerStatus::Running || work.restarting) {
        container.started_at = info.started_at.value_or(step.now);
      }
      container.status = ContainerStatus::Running;
      work.restarting = false;
      work.lost_sight = false;
      if (has_task_network(task.payload)) {
        refresh_task_network(task);
      } else {
        container.network_bindings =
            network_bindings(task.payload, task.payload.containers[index], info.bindings);
      }
      break;
    case RuntimeStatus::Exited:
      apply_exit(step, task, index, info);
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

void apply_vanished(Step& step, Task& task, size_t index) {
  ContainerRecord& container = task.record.containers[index];
  if (container.status == ContainerStatus::Stopped) return;
  const std::optional<int32_t> told = task.work[index].died_exit_code;
  if (told) {
    container.exit_code = told;
    if (task.work[index].oom) container.reason = out_of_memory;
  } else {
    container.reason =
        "ContainerVanishedError: the container is gone from Docker; it was removed by somebody "
        "else.";
  }
  task.work[index].removed = true;
  mark_stopped(step, task, index);
}

}  // namespace agent::core
