#include "control/capacity/groups/activities.h"

#include <algorithm>
#include <utility>

#include "base/format.h"

namespace control {
namespace {

constexpr std::string_view in_progress = "InProgress";

// "2026-01-31T12:00:00Z", as AWS writes it into causes.
std::string seconds_of(base::Time time) {
  return base::format_rfc3339(time).substr(0, 19) + "Z";
}

std::string because_at(base::Time now, std::string_view because, CapacityStep capacity) {
  if (because.empty()) return {};
  return base::format("At {} {}, changing the desired capacity from {} to {}.  ", seconds_of(now),
                      because, capacity.from, capacity.to);
}

template <class Predicate>
const model::ScalingActivity* find_open(const Step& step, std::string_view group,
                                        Predicate&& is_it) {
  const auto kept = step.state().scaling_activities.find(group);
  if (kept == step.state().scaling_activities.end()) return nullptr;
  const auto found = std::ranges::find_if(
      kept->second.activities,
      [&](const model::ScalingActivity& one) { return one.status == in_progress && is_it(one); });
  return found == kept->second.activities.end() ? nullptr : &*found;
}

const model::ScalingActivity* open_launch(const Step& step, std::string_view group,
                                          const model::Machine& machine) {
  return find_open(step, group, [&](const auto& one) { return one.id == machine.token; });
}

std::string termination_of(const model::Machine& machine) {
  return base::format("Terminating EC2 instance: {}", machine.id);
}

// Whoever has begun it: an operation of the API does so, too, and may say more in the description.
const model::ScalingActivity* open_termination(const Step& step, std::string_view group,
                                               const model::Machine& machine) {
  return find_open(step, group, [&](const auto& one) {
    return one.description.starts_with(termination_of(machine));
  });
}

}  // namespace

void begin_launch(Step& step, std::string_view group, const model::Machine& machine,
                  CapacityStep capacity, std::string_view because) {
  step.change(model::ScalingActivityPut{
      {.id = machine.token,
       .group = std::string(group),
       .started_at = step.now,
       .ended_at = {},
       .status = std::string(in_progress),
       .status_message = {},
       .description = "Launching a new EC2 instance.",
       .cause = base::format("{}At {} an instance was started in response to a difference between "
                             "desired and actual capacity, increasing the capacity from {} to {}.",
                             because_at(step.now, because, capacity), seconds_of(step.now),
                             capacity.from, capacity.to)}});
}

void name_launch(Step& step, std::string_view group, const model::Machine& machine) {
  const model::ScalingActivity* const found = open_launch(step, group, machine);
  if (found == nullptr) return;
  model::ScalingActivity named = *found;
  named.description = base::format("Launching a new EC2 instance: {}", machine.id);
  step.change(model::ScalingActivityPut{std::move(named)});
}

void end_launch(Step& step, std::string_view group, const model::Machine& machine,
                std::string_view status, std::string message) {
  const model::ScalingActivity* const found = open_launch(step, group, machine);
  if (found == nullptr) return;
  model::ScalingActivity ended = *found;
  ended.status = status;
  ended.ended_at = step.now;
  ended.status_message = std::move(message);
  if (!ended.status_message.empty() && machine.id.empty()) {
    ended.description =
        base::format("Launching a new EC2 instance.  Status Reason: {}", ended.status_message);
  }
  step.change(model::ScalingActivityPut{std::move(ended)});
}

void note_no_launch(Step& step, std::string_view group, std::string message) {
  step.change(model::ScalingActivityPut{
      {.id = step.random.uuid(),
       .group = std::string(group),
       .started_at = step.now,
       .ended_at = step.now,
       .status = "Failed",
       .status_message = message,
       .description = base::format("Launching a new EC2 instance.  Status Reason: {}", message),
       .cause = base::format("At {} an instance was to be started in response to a difference "
                             "between desired and actual capacity.",
                             seconds_of(step.now))}});
}

void begin_termination(Step& step, std::string_view group, const model::Machine& machine,
                       const std::string& cause) {
  if (open_termination(step, group, machine) != nullptr) return;
  step.change(model::ScalingActivityPut{{.id = step.random.uuid(),
                                         .group = std::string(group),
                                         .started_at = step.now,
                                         .ended_at = {},
                                         .status = std::string(in_progress),
                                         .status_message = {},
                                         .description = termination_of(machine),
                                         .cause = cause}});
}

void explain_termination(Step& step, std::string_view group, const model::Machine& machine,
                         std::string message) {
  const model::ScalingActivity* const found = open_termination(step, group, machine);
  if (found == nullptr || found->status_message == message) return;
  model::ScalingActivity told = *found;
  told.status_message = std::move(message);
  step.change(model::ScalingActivityPut{std::move(told)});
}

void end_termination(Step& step, std::string_view group, const model::Machine& machine) {
  const model::ScalingActivity* const found = open_termination(step, group, machine);
  if (found == nullptr) return;
  model::ScalingActivity ended = *found;
  ended.status = "Successful";
  ended.ended_at = step.now;
  ended.status_message.clear();
  step.change(model::ScalingActivityPut{std::move(ended)});
}

std::string cause_of_surplus(base::Time now, const model::Machine& machine, CapacityStep capacity,
                             std::string_view because) {
  return base::format(
      "{}At {} an instance was taken out of service in response to a difference between desired "
      "and actual capacity, shrinking the capacity from {} to {}.  At {} instance {} was selected "
      "for termination.",
      because_at(now, because, capacity), seconds_of(now), capacity.from, capacity.to,
      seconds_of(now), machine.id);
}

std::string cause_of_health(base::Time now, std::string_view reason) {
  return base::format(
      "At {} an instance was taken out of service in response to a health check: {}.",
      seconds_of(now), reason);
}

std::string cause_of_end(base::Time now, std::string_view reason) {
  if (reason.ends_with('.')) reason.remove_suffix(1);
  return base::format("At {} an instance was taken out of service: {}.", seconds_of(now), reason);
}

}  // namespace control
