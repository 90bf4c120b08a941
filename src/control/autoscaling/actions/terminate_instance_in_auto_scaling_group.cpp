#include <algorithm>

#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/describe.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {
namespace {

base::Result<void> check(const FoundMachine& found,
                         const api::autoscaling::TerminateInstanceInAutoScalingGroupType& request) {
  const std::string id = request.instance_id.value_or("");
  if (found.machine == nullptr ||
      request.auto_scaling_group_name.value_or(found.group->name) != found.group->name) {
    return validation_error(
        base::format("Instance Id not found - No managed instance found for instance ID: {}", id));
  }
  if (found.machine->state == model::MachineState::Terminating) {
    return activity_in_progress(
        base::format("The instance {} of the AutoScalingGroup {} is being terminated already.", id,
                     found.group->name));
  }
  if (request.should_decrement_desired_capacity.value_or(false) &&
      found.group->desired_capacity <= found.group->min_size) {
    return validation_error(base::format(
        "Currently, desired capacity equals min size ({}). Terminating instance without "
        "replacement will violate group's min size constraint. Either set "
        "shouldDecrementDesiredCapacity flag to false or lower group's min size.",
        found.group->min_size));
  }
  return {};
}

}  // namespace

Answer<api::autoscaling::ActivityType> terminate_instance_in_auto_scaling_group(
    Step& step, const api::autoscaling::TerminateInstanceInAutoScalingGroupType& request) {
  if (!request.instance_ids.empty()) {
    return validation_error("InstanceIds is not offered: name one machine in InstanceId.");
  }
  const FoundMachine found = find_machine(step.state(), request.instance_id.value_or(""));
  TRY_VOID(check(found, request));
  model::AutoScalingGroup group = *found.group;
  const auto machine = std::ranges::find(group.machines, found.machine->id, &model::Machine::id);
  const int32_t before = group.desired_capacity;
  const bool decrement = request.should_decrement_desired_capacity.value_or(false);
  if (decrement) --group.desired_capacity;
  machine->state = model::MachineState::Terminating;
  machine->changed_at = step.now;
  machine->reason = base::format(
      "At {} instance {} was taken out of service in response to a user request{}.",
      base::format_rfc3339(step.now), machine->id,
      decrement ? base::format(", shrinking the capacity from {} to {}", before, before - 1) : "");
  model::ScalingActivity activity{
      .id = step.random.uuid(),
      .group = group.name,
      .started_at = step.now,
      .ended_at = std::nullopt,
      .status = "InProgress",
      .status_message = {},
      .description = base::format("Terminating EC2 instance: {}", machine->id),
      .cause = machine->reason};
  step.change(model::AutoScalingGroupPut{std::move(group)});
  api::autoscaling::ActivityType response{.activity = describe_activity(step, activity),
                                          .activities = {}};
  step.change(model::ScalingActivityPut{std::move(activity)});
  return response;
}

}  // namespace control::autoscaling
