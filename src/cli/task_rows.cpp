#include "cli/task_rows.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>

#include "base/format.h"
#include "cli/terminal.h"
#include "model/ids.h"

namespace cli {
namespace {

std::string id_of(const std::optional<std::string>& arn) {
  return arn ? std::string(model::short_id(*arn)) : "-";
}

bool is_stopped(const api::ecs::Task& task) {
  return task.last_status == "STOPPED";
}

std::string status_of(const api::ecs::Task& task) {
  std::string status = task.last_status.value_or("");
  if (task.desired_status == "STOPPED" && !is_stopped(task)) status += " (to stop)";
  if (task.berth_stage && task.last_status != "RUNNING") status += ", " + *task.berth_stage;
  if (task.berth_pull_percent) status += base::format(" {} %", *task.berth_pull_percent);
  return status;
}

// What it holds; of one that waits, what it asks for.
std::string gpus_of(const api::ecs::Task& task) {
  if (task.berth_queue) return task.berth_queue->gpus.value_or("-");
  size_t whole = 0;
  int64_t shared_mib = 0;
  for (const api::ecs::Container& container : task.containers) {
    if (!container.gpu_sharing_strategy) {
      whole += container.gpu_ids.size();
      continue;
    }
    for (const auto& gpu : container.berth_gpus) shared_mib += gpu.memory_mib.value_or(0);
  }
  std::string text = whole > 0 ? base::format("{}", whole) : std::string();
  if (shared_mib > 0) {
    text += base::format("{}{} MiB", text.empty() ? "" : " and ", shared_mib);
  }
  return text.empty() ? "-" : text;
}

std::string host_cell(const api::ecs::Task& task, const Instances& instances) {
  if (!task.container_instance_arn) return "-";
  const auto* const instance = find_by_arn(instances, *task.container_instance_arn);
  return instance == nullptr ? id_of(task.container_instance_arn) : host_name_of(*instance);
}

void add_sentence(std::string& text, const std::string& sentence) {
  if (sentence.empty() || text.contains(sentence)) return;  // Told already.
  if (!text.empty()) text += "; ";
  text += sentence;
}

// Exit codes and reasons of containers that have ended, after the task's own.
std::string end_of(const api::ecs::Task& task) {
  std::string text = task.stopped_reason.value_or("");
  for (const api::ecs::Container& container : task.containers) {
    const std::string name = container.name.value_or("");
    if (container.exit_code) {
      add_sentence(text, base::format("{} ended with {}", name, *container.exit_code));
    }
    if (container.reason && !text.contains(*container.reason)) {
      add_sentence(text, base::format("{}: {}", name, *container.reason));
    }
  }
  return text;
}

std::string tag_of(const api::ecs::Task& task, std::string_view key) {
  for (const api::ecs::Tag& tag : task.tags) {
    if (tag.key == key) return tag.value.value_or("");
  }
  return {};
}

// Where it stands in the queue, when it will go, and what it waits for.
std::string wait_of(const api::ecs::Task& task, base::Time now) {
  const api::ecs::BerthQueue& queue = *task.berth_queue;
  std::string text;
  if (queue.position) {
    text = base::format("position {} of {}", *queue.position, queue.length.value_or(0));
    if (queue.priority.value_or(0) != 0) text += base::format(", priority {}", *queue.priority);
    if (queue.share) text += base::format(", share {}", *queue.share);
    if (queue.estimated_start_at) {
      const bool overdue = *queue.estimated_start_at <= now;
      text += overdue ? std::string(", start overdue")
                      : base::format(", starts in about {}",
                                     span_text(*queue.estimated_start_at - now));
    }
    text += ": ";
  }
  text += queue.reason.value_or("");
  if (queue.detail && !queue.detail->empty()) text += ". " + *queue.detail;
  return text;
}

// A task that is to stop and still stands there: what of it is left.
std::string left_of(const api::ecs::Task& task) {
  std::string text = task.stopped_reason.value_or("");
  bool running = false;
  for (const api::ecs::Container& container : task.containers) {
    if (container.last_status == "STOPPED") continue;
    running = true;
    add_sentence(text, base::format("container {} is {}", container.name.value_or(""),
                                    container.last_status.value_or("")));
  }
  if (!running) {
    add_sentence(text, "its containers have ended");
    add_sentence(text, task.berth_stage.value_or("its GPUs are being looked at"));
  }
  return text;
}

std::string why(const api::ecs::Task& task, const Instances& instances, base::Time now) {
  if (task.berth_queue) return wait_of(task, now);
  if (is_stopped(task)) return end_of(task);
  const auto* const instance = find_by_arn(instances, task.container_instance_arn.value_or(""));
  std::string text = task.desired_status == "STOPPED" ? left_of(task) : end_of(task);
  if (instance == nullptr) return text;
  const std::string trouble = trouble_of(*instance, now);
  if (trouble.empty()) return text;
  add_sentence(text, base::format("{}: {}", host_name_of(*instance), trouble));
  if (!instance->agent_connected.value_or(true)) {
    add_sentence(text, "the status is the last one that it told");
  }
  return text;
}

std::string age_of(const api::ecs::Task& task, base::Time now) {
  return task.created_at ? span_text(now - *task.created_at) : "-";
}

Line task_line(const api::ecs::Task& task, const Instances& instances, base::Time now) {
  const std::string reason = why(task, instances, now);
  const std::string priority = tag_of(task, "berth:priority");
  return {id_of(task.task_arn),
          id_of(task.task_definition_arn),
          task.group.value_or("-"),
          status_of(task),
          gpus_of(task),
          host_cell(task, instances),
          age_of(task, now),
          priority.empty() ? "-" : priority,
          reason.empty() ? "-" : reason};
}

}  // namespace

void sort_tasks(Tasks& tasks) {
  std::ranges::sort(tasks, {}, [](const api::ecs::Task& one) {
    const bool waits = one.berth_queue.has_value();
    const int32_t last = std::numeric_limits<int32_t>::max();
    return std::make_tuple(is_stopped(one) ? 0
                           : waits         ? 2
                                           : 1,
                           waits ? one.berth_queue->position.value_or(last) : 0, one.created_at,
                           one.task_arn);
  });
}

std::vector<Line> task_lines(const Tasks& tasks, const Instances& instances, base::Time now) {
  std::vector<Line> lines{
      {"TASK", "DEFINITION", "GROUP", "STATUS", "GPUS", "HOST", "AGE", "PRIORITY", "WHY"}};
  for (const api::ecs::Task& task : tasks) lines.push_back(task_line(task, instances, now));
  return lines;
}

}  // namespace cli
