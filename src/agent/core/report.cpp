// What the control plane is told of a task. A report is made from what is true now, not from a
// queue of what happened: it is sent when that differs from what was accepted last, so that it may
// be repeated, and skips what is overtaken.

#include <algorithm>
#include <utility>

#include "agent/core/container_network.h"
#include "agent/core/step.h"
#include "base/format.h"
#include "json/text.h"

namespace agent::core {
namespace {

constexpr base::Milliseconds submit_retry_min = std::chrono::milliseconds(250);
constexpr base::Milliseconds submit_retry_max = std::chrono::seconds(30);
// Source: ECS API reference, SubmitTaskStateChange and ContainerStateChange.
constexpr size_t longest_reason = 1024;
constexpr size_t longest_id = 255;
// A stage that takes longer is reported; most tasks are RUNNING before.
constexpr base::Milliseconds stage_patience = std::chrono::seconds(1);
constexpr std::string_view stage_pulling = "PULLING";

std::string_view wire_status(ContainerStatus status) {
  switch (status) {
    case ContainerStatus::None:
    case ContainerStatus::Created:
      return "PENDING";
    case ContainerStatus::Running:
      return "RUNNING";
    case ContainerStatus::Stopped:
      return "STOPPED";
  }
  return "PENDING";
}

// At most `limit` bytes, never half a character.
std::string shortened(const std::string& text, size_t limit) {
  if (text.size() <= limit) return text;
  size_t end = limit;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

// A container is about to come up: the next report is worth waiting for.
bool is_in_motion(const Task& task) {
  for (size_t i = 0; i < task.work.size(); ++i) {
    const ContainerStatus status = task.record.containers[i].status;
    const ContainerWork& work = task.work[i];
    if (status == ContainerStatus::None && work.image != ImageStep::Ready) continue;
    if (status != ContainerStatus::Stopped && (work.operation != 0 || work.inspect_wanted)) {
      return true;
    }
  }
  return false;
}

bool is_reported(const Task& task, size_t index) {
  return !is_pause(task.payload.containers[index]);
}

// Where a task is on its way from accepted to RUNNING.
std::string_view stage_of(const Task& task) {
  if (!task.admitted) return "QUEUED";
  bool pulling = false;
  bool creating = false;
  bool starting = false;
  for (size_t i = 0; i < task.work.size(); ++i) {
    const ContainerStatus status = task.record.containers[i].status;
    if (!is_reported(task, i) || status == ContainerStatus::Stopped) continue;
    const ContainerWork& work = task.work[i];
    const bool without = status == ContainerStatus::None;
    pulling = pulling || (without && work.image != ImageStep::Ready && task.pulled);
    creating = creating || without;
    starting = starting || status == ContainerStatus::Running ||
               (status == ContainerStatus::Created && work.operation != 0);
  }
  return pulling ? stage_pulling : creating ? "CREATING" : starting ? "STARTING" : "CREATED";
}

// Whether it has been in its present stage for so long that it is worth telling.
bool is_slow(const Step& step, Task& task) {
  const std::string_view stage = stage_of(task);
  if (task.stage != stage) {
    task.stage = stage;
    task.stage_since = step.now;
  }
  const base::Time deadline = task.stage_since + stage_patience;
  if (step.now < deadline) look_again(task, deadline);
  return step.now >= deadline;
}

// Its GPUs are not proven empty yet. Where that takes a while, the containers' end is told before.
std::string_view status_until_proven(const Step& step, Task& task) {
  if (!task.record.reached_running) return "";
  const base::Time deadline = *task.record.stopped_at + stage_patience;
  if (step.now >= deadline) return "RUNNING";
  look_again(task, deadline);
  return "";
}

// "STOPPED", "RUNNING" or "PENDING"; empty: there is nothing to tell yet.
std::string_view task_status(const Step& step, Task& task) {
  if (task.all_stopped()) {
    if (!gpus_settled(task)) return status_until_proven(step, task);
    const base::Time deadline = *task.record.stopped_at + step.state.config.log_grace;
    if (logs_delivered(task) || step.now >= deadline) return "STOPPED";
    look_again(task, deadline);
    return "";
  }
  if (task.record.reached_running) return "RUNNING";
  const bool slow = !task.record.stop_desired && is_slow(step, task);
  if (!task.record.stop_desired && is_in_motion(task) && !slow) return "";
  bool moved = false;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    const bool waits = wire_status(task.record.containers[i].status) == "PENDING";
    moved = moved || (is_reported(task, i) && !waits);
  }
  return moved || task.pulled || slow ? "PENDING" : "";
}

std::optional<int32_t> percent_of(const Task& task) {
  return task.stage == stage_pulling ? task.pull_percent : std::nullopt;
}

// What is still on a GPU of a task whose containers have ended; empty: nothing is known to be.
std::string occupied_by(const Task& task) {
  if (!task.all_stopped()) return {};
  for (const GpuWork& gpu : task.gpus) {
    if (!gpu.settled && !gpu.detail.empty()) {
      return base::format("{} is not empty: {}", gpu.uuid, gpu.detail);
    }
  }
  return {};
}

std::string fingerprint(const Task& task, std::string_view status) {
  // The end is told once, whatever else there is to tell.
  std::string text(status);
  if (status == "STOPPED") return text;
  if (status == "PENDING" && !task.record.stop_desired) {
    text += base::format(" {}", task.stage);
    if (const auto percent = percent_of(task)) text += base::format(" {}%", *percent);
  }
  // Told once, not at each change of what it says.
  if (!occupied_by(task).empty()) text += " occupied";
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    if (!is_reported(task, i)) continue;
    const ContainerRecord& container = task.record.containers[i];
    text += base::format(" {}={}", container.name, wire_status(container.status));
  }
  return text;
}

api::ecs::ContainerStateChange container_change(const ContainerRecord& container) {
  api::ecs::ContainerStateChange change;
  change.container_name = container.name;
  change.status = std::string(wire_status(container.status));
  if (container.status == ContainerStatus::Stopped) {
    change.exit_code = container.exit_code;
    if (!container.reason.empty()) change.reason = shortened(container.reason, longest_reason);
  }
  if (!container.runtime_id.empty()) {
    change.runtime_id = shortened(container.runtime_id, longest_id);
  }
  if (!container.image_digest.empty()) {
    change.image_digest = shortened(container.image_digest, longest_id);
  }
  change.network_bindings = container.network_bindings;
  return change;
}

api::ecs::SubmitTaskStateChangeRequest request(const Config& config, const Task& task,
                                               std::string_view status) {
  api::ecs::SubmitTaskStateChangeRequest change;
  const TaskRecord& record = task.record;
  change.cluster = config.cluster;
  change.task = record.arn;
  change.status = std::string(status);
  for (size_t i = 0; i < record.containers.size(); ++i) {
    if (is_reported(task, i)) change.containers.push_back(container_change(record.containers[i]));
  }
  if (status == "PENDING" && !record.stop_desired) {
    change.berth_stage = std::string(task.stage);
    change.berth_pull_percent = percent_of(task);
  }
  const std::string occupant = status == "RUNNING" ? occupied_by(task) : std::string();
  if (!occupant.empty()) change.berth_stage = shortened(occupant, longest_reason);
  if (record.pull_started_at) change.pull_started_at = record.pull_started_at;
  if (record.pull_stopped_at) change.pull_stopped_at = record.pull_stopped_at;
  if (record.stop_desired && !record.stop_reason.empty()) {
    change.reason = shortened(record.stop_reason, longest_reason);
  }
  if (status == "STOPPED") {
    change.execution_stopped_at = record.execution_stopped_at;
    change.gpu_release = record.gpu_release;
  }
  return change;
}

base::Milliseconds submit_wait(uint32_t attempts) {
  return std::min(submit_retry_min * (int64_t{1} << std::min(attempts, 10U)), submit_retry_max);
}

}  // namespace

bool Task::settled() const {
  return record.accepted == "STOPPED";
}

void advance_report(Step& step, Task& task) {
  if (task.submit != 0) return;
  const std::string_view status = task_status(step, task);
  if (status.empty()) return;
  advance_pull_percent(step, task);
  std::string now_true = fingerprint(task, status);
  if (now_true == task.record.accepted) return;
  if (step.now < task.submit_at) return look_again(task, task.submit_at);
  task.submit = step.state.next_id++;
  task.submit_fingerprint = std::move(now_true);
  step.state.submits.emplace(task.submit, task.record.arn);
  step.out.submits.push_back({task.submit, request(step.state.config, task, status)});
}

void on_submit_done(Step& step, const SubmitDone& done) {
  const auto found = step.state.submits.find(done.id);
  if (found == step.state.submits.end()) return;
  const std::string arn = found->second;
  step.state.submits.erase(found);
  const auto known = step.state.tasks.find(arn);
  if (known == step.state.tasks.end()) return;
  Task& task = known->second;
  task.submit = 0;
  step.touched.insert(arn);
  if (done.outcome == SubmitOutcome::Retry) {
    task.submit_at = step.now + submit_wait(task.submit_attempts++);
    return;
  }
  if (done.outcome == SubmitOutcome::Refused) {
    note(step, Note::Level::Error,
         base::format("The control plane refuses the report '{}' of task {}: {}: {}",
                      task.submit_fingerprint, arn, done.error.code, done.error.message));
  }
  task.submit_attempts = 0;
  task.submit_at = step.now;
  task.record.accepted = task.submit_fingerprint;
}

}  // namespace agent::core
