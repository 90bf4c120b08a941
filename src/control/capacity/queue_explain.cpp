#include "control/capacity/queue_explain.h"

#include <algorithm>
#include <chrono>

#include "base/format.h"
#include "control/capacity/gang.h"
#include "control/capacity/queue_tags.h"
#include "control/capacity/waiting.h"
#include "control/step/queue_notes.h"
#include "control/tasks/task_plan.h"
#include "placement/demand.h"
#include "placement/refusal.h"

namespace control {
namespace {

constexpr std::string_view not_looked_at = "The queue has not looked at it yet.";

QueueTags queue_tags_of(const model::Task& task) {
  const auto tags = read_queue_tags(task.tags);
  return tags ? *tags : QueueTags();
}

// "3 s", "5 min", "2 h 5 min".
std::string span(base::Milliseconds time) {
  const int64_t seconds =
      std::max<int64_t>(0, std::chrono::duration_cast<std::chrono::seconds>(time).count());
  if (seconds < 120) return base::format("{} s", seconds);
  if (seconds < 7200) return base::format("{} min", seconds / 60);
  return base::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

// "4 GPUs"; empty: it asks for none, or its definition is gone.
std::string gpus_asked(const Step& step, const model::Task& task) {
  const auto* const definition = model::find_task_definition(step.state(), task.definition);
  if (definition == nullptr) return {};
  const auto request = request_of(*definition, task.overrides);
  if (!request) return {};
  const placement::Demand demand = placement::demand_of(request->resources);
  return demand.wants_gpu() ? placement::gpus_wanted(demand) : std::string();
}

std::string line_of_gang(const api::ecs::BerthQueue& queue) {
  return base::format("Gang {}: {} of {} members are there; all start together.\n", *queue.gang,
                      queue.gang_present.value_or(1), queue.gang_size.value_or(0));
}

}  // namespace

bool waits_in_queue(const model::Task& task) {
  return task.waiting.has_value() && task.capacity_provider == model::berth_queue;
}

api::ecs::BerthQueue describe_queue(const Step& step, const model::Task& task) {
  api::ecs::BerthQueue made;
  const QueueTags tags = queue_tags_of(task);
  made.priority = tags.priority;
  made.queued_at = task.created_at;
  if (!tags.share.empty()) made.share = tags.share;
  const std::string gpus = gpus_asked(step, task);
  if (!gpus.empty()) made.gpus = gpus;
  if (tags.queue_time) made.deadline_at = task.created_at + *tags.queue_time;
  if (waits_for_group(task)) made.deadline_at = task.created_at + step.settings.provisioning_limit;
  const std::string gang = gang_of(task);
  if (!gang.empty()) {
    made.gang = gang;
    made.gang_size = gang_size_of(task);
  }
  const reconcile::queue::Verdict* const verdict = step.queue_notes.find(task.cluster, task.arn);
  if (verdict == nullptr) {
    made.reason =
        task.wait_reason.empty() ? std::string(reconcile::queue::reason_behind) : task.wait_reason;
    made.detail = task.wait_detail.empty() ? std::string(not_looked_at) : task.wait_detail;
    return made;
  }
  if (verdict->position > 0) made.position = verdict->position;
  made.length = verdict->length;
  made.reason = verdict->reason;
  made.detail = verdict->detail;
  made.estimated_start_at = verdict->estimated_start;
  made.estimate_basis = verdict->basis;
  if (verdict->deadline) made.deadline_at = verdict->deadline;
  if (!gang.empty()) made.gang_present = verdict->gang_present;
  return made;
}

std::string print_queue_text(const Step& step, const model::Task& task) {
  const api::ecs::BerthQueue queue = describe_queue(step, task);
  std::string text = base::format("Task {} waits in the queue of cluster {}",
                                  model::short_id(task.arn.str()), task.cluster.str());
  if (queue.position) {
    text += base::format(", at position {} of {}.\n", *queue.position, queue.length.value_or(0));
  } else {
    text += ", without a position yet.\n";
  }
  text += base::format("Reason: {}", queue.reason.value_or(""));
  text += queue.detail && !queue.detail->empty() ? base::format(". {}\n", *queue.detail) : ".\n";
  if (queue.gang) text += line_of_gang(queue);
  if (queue.estimated_start_at && *queue.estimated_start_at <= step.now) {
    text += base::format(
        "Estimated start: overdue since {}: tasks run longer than they told with {}.\n",
        base::format_rfc3339(*queue.estimated_start_at), reconcile::queue::max_seconds_tag);
  } else if (queue.estimated_start_at) {
    text += base::format(
        "Estimated start: {} (in {}), {}.\n", base::format_rfc3339(*queue.estimated_start_at),
        span(*queue.estimated_start_at - step.now), queue.estimate_basis.value_or(""));
  } else {
    text += base::format("Estimated start: {}.\n", queue.estimate_basis.value_or("unknown"));
  }
  text += base::format("Waiting for {}, with priority {}", span(step.now - task.created_at),
                       queue.priority.value_or(0));
  const std::string share = queue_tags_of(task).share;
  text += base::format(", in group {}.\n", share.empty() ? task.group : share);
  if (queue.deadline_at) {
    text +=
        base::format("Deadline: {} (in {}); then it ends without having started.\n",
                     base::format_rfc3339(*queue.deadline_at), span(*queue.deadline_at - step.now));
  }
  return text;
}

}  // namespace control
