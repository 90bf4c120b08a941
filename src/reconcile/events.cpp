#include "reconcile/events.h"

#include "base/format.h"
#include "placement/refusal.h"

namespace reconcile {
namespace {

constexpr base::Milliseconds mute_for = std::chrono::hours(6);
constexpr size_t most_named = 10;

std::string named(const std::vector<model::TaskArn>& tasks) {
  std::string text;
  for (size_t i = 0; i < tasks.size() && i < most_named; ++i) {
    text += base::format(" (task {})", model::short_id(tasks[i].str()));
  }
  if (tasks.size() > most_named) text += base::format(" and {} more", tasks.size() - most_named);
  return text;
}

// "RESOURCE:GPU" as people read it.
std::string obstacle_of(std::string_view reason) {
  static constexpr std::string_view resource = "RESOURCE:";
  if (reason == placement::reason_ports) return "is already using a port required by the task";
  if (reason.starts_with(resource)) {
    return base::format("has insufficient {} available", reason.substr(resource.size()));
  }
  return base::format("encountered error \"{}\"", reason);
}

}  // namespace

bool is_muted(const model::ClusterState& state, const model::Service& service,
              std::string_view stem, base::Time now) {
  const auto kept = state.service_events.find(service.arn);
  if (kept == state.service_events.end()) return false;
  const std::string steady = steady_event(service);
  const auto& events = kept->second.events;
  for (auto it = events.rbegin(); it != events.rend(); ++it) {
    if (it->created_at + mute_for <= now || it->message == steady) return false;
    if (it->message.starts_with(stem)) return true;
  }
  return false;
}

std::string started_event(const model::Service& service, const std::vector<model::TaskArn>& tasks) {
  return base::format("(service {}) has started {} tasks:{}.", service.name, tasks.size(),
                      named(tasks));
}

std::string stopped_event(const model::Service& service, const std::vector<model::TaskArn>& tasks) {
  return base::format("(service {}) has stopped {} running tasks:{}.", service.name, tasks.size(),
                      named(tasks));
}

std::string rebalanced_event(const model::Service& service, const model::TaskArn& task,
                             std::string_view zone) {
  return base::format(
      "(service {}) is not balanced over its Availability Zones: has started 1 tasks: (task {}) in "
      "{}, before one is stopped elsewhere.",
      service.name, model::short_id(task.str()), zone);
}

std::string steady_event(const model::Service& service) {
  return base::format("(service {}) has reached a steady state.", service.name);
}

std::string completed_event(const model::Service& service, std::string_view deployment) {
  return base::format("(service {}) (deployment {}) deployment completed.", service.name,
                      deployment);
}

std::string failed_event(const model::Service& service, std::string_view deployment,
                         std::string_view why) {
  return base::format("(service {}) (deployment {}) deployment failed: {}.", service.name,
                      deployment, why);
}

std::string rollback_event(const model::Service& service, std::string_view deployment) {
  return base::format("(service {}) rolling back to deployment {}.", service.name, deployment);
}

std::string backoff_event(const model::Service& service) {
  return base::format(
      "(service {}) is unable to consistently start tasks successfully. Its tasks are started at "
      "growing intervals, up to 15 minutes, until one stays up or a new deployment begins; "
      "stoppedReason of its stopped tasks says why they end.",
      service.name);
}

StemmedEvent unplaced_event(const model::Service& service, const model::InstanceArn& nearest,
                            std::string_view reason, std::string_view detail) {
  StemmedEvent event;
  event.stem = base::format(
      "(service {}) was unable to place a task because no container instance met all of its "
      "requirements. Reason: {}.",
      service.name, reason);
  if (!nearest.empty()) {
    event.rest = base::format(" The closest matching (container-instance {}) {}.",
                              model::short_id(nearest.str()), obstacle_of(reason));
  }
  if (!detail.empty()) event.rest += base::format(" {}", detail);
  return event;
}

StemmedEvent waiting_event(const model::Service& service, const model::Task& task) {
  StemmedEvent event;
  event.stem = base::format(
      "(service {}) waits for capacity: its tasks in PROVISIONING start once capacity provider {} "
      "has room for them. Reason: {}.",
      service.name, task.capacity_provider, task.wait_reason);
  if (!task.wait_detail.empty()) event.rest = base::format(" {}", task.wait_detail);
  return event;
}

StemmedEvent pulling_event(const model::Service& service, size_t tasks, const Pull& pull) {
  return {base::format("(service {}) is pulling the images of ", service.name),
          base::format("{} tasks: (task {}) waits for {} seconds and has {} percent of the bytes.",
                       tasks, model::short_id(pull.task.str()), pull.seconds, pull.percent)};
}

StemmedEvent pulled_event(const model::Service& service, const model::TaskArn& task,
                          int64_t seconds) {
  return {base::format("(service {}) has pulled the images of ", service.name),
          base::format("(task {}) in {} seconds.", model::short_id(task.str()), seconds)};
}

}  // namespace reconcile
