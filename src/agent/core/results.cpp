// What became of an operation on a container or volume.

#include <algorithm>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/container_network.h"
#include "agent/core/container_truth.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

// Tries of a create, start or volume whose outcome stays unknown.
constexpr uint32_t most_attempts = 3;

std::string reason_of(const OperationError& error) {
  return error.code + ": " + error.message;
}

// Sending it again would have the same end.
bool is_final(Cause cause) {
  return cause == Cause::Denied || cause == Cause::NotFound || cause == Cause::BadParameter ||
         cause == Cause::NoSpace;
}

// Docker refused to start it. After any other error its program may run all the same.
bool never_started(Cause cause) {
  return cause == Cause::BadParameter || cause == Cause::Conflict || cause == Cause::NoSpace ||
         cause == Cause::Denied;
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
    work.start_error.clear();
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
  if (!never_started(error.cause)) {
    work.late_start_until = step.now + step.state.config.late_start_wait;
  }
  if (error.cause == Cause::Unreachable) return;
  if (error.cause == Cause::NotFound) return lose_container(step, task, index);
  work.inspect_wanted = true;
  if (error.cause == Cause::Timeout) {
    // It may run. If it still does not after some tries the task ends, but only through a stop.
    if (++work.attempts < most_attempts) return;
    container.reason = reason_of(error);
    return begin_stop(step, task, container.reason);
  }
  // The error says what the task is told; what the container does is seen.
  work.restarting = false;
  work.start_error = reason_of(error);
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
    if (apply_info(step, task, index, *info, asked)) {
      // A stop that had no effect is not repeated at once.
      if (container.status == ContainerStatus::Running && work.stop_attempts > 0 &&
          work.ending == Ending::No) {
        work.retry_at = step.now + retry_wait(work.stop_attempts);
      }
      return;
    }
    return refuse_stranger(step, task, index);
  }
  const OperationError& error = result.error();
  if (error.cause == Cause::NotFound) {
    if (container.status == ContainerStatus::None) {
      work.create_unsure = false;
    } else {
      lose_container(step, task, index);
    }
    return;
  }
  work.inspect_wanted = true;
  work.retry_at = step.now + retry_wait(++work.attempts);
}

void on_end_processes(Step& step, Task& task, size_t index, const OperationResult& result) {
  ContainerWork& work = task.work[index];
  const ProcessesSeen* const seen = result ? std::get_if<ProcessesSeen>(&*result) : nullptr;
  const Processes left = seen == nullptr ? Processes::Unknown : seen->left;
  if (left == Processes::Some) {
    work.ending = Ending::Processes;
    work.retry_at = step.now + retry_wait(++work.attempts);
    return note(step, Note::Level::Warning,
                base::format("Processes of container {} of task {} outlive SIGKILL.",
                             task.record.containers[index].name, task.record.arn));
  }
  if (work.vanished) return vanish(step, task, index);
  work.inspect_wanted = true;
  if (left == Processes::Unknown && task.record.containers[index].lost_by_docker) {
    work.ending = Ending::Container;
  }
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
  if (is(EndProcesses{})) return on_end_processes(step, task, target.index, result);
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

}  // namespace agent::core
