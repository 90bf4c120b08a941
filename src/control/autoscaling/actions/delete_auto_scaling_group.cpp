#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/lookup.h"
#include "control/request/echo.h"

namespace control::autoscaling {
namespace {

base::Result<void> check_deletable(const model::AutoScalingGroup& group, bool force) {
  using Protection = api::autoscaling::DeletionProtection;
  const Protection protection = read_echo<api::autoscaling::AutoScalingGroup>(group.echoed)
                                    .deletion_protection.value_or(Protection::None);
  if (protection == Protection::PreventAllDeletion ||
      (protection == Protection::PreventForceDeletion && force)) {
    return validation_error(
        base::format("The AutoScalingGroup {} has DeletionProtection {}. Set it to none first.",
                     group.name, api::to_string(protection)));
  }
  if (!force && !group.machines.empty()) {
    return resource_in_use(base::format(
        "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance "
        "request(s) still in the group. {} has {} instances: set its capacity to 0 first, or use "
        "ForceDelete.",
        group.name, group.machines.size()));
  }
  return {};
}

}  // namespace

// The group is gone at once where it has no machines, and none can turn up; else when the last of
// them is.
Answer<api::autoscaling::DeleteAutoScalingGroupResponse> delete_auto_scaling_group(
    Step& step, const api::autoscaling::DeleteAutoScalingGroupType& request) {
  model::AutoScalingGroup group = *TRY(require_group(step, request.auto_scaling_group_name));
  const bool force = request.force_delete.value_or(false);
  TRY_VOID(check_deletable(group, force));
  if (group.deleting) return api::autoscaling::DeleteAutoScalingGroupResponse{};
  group.deleting = true;
  group.min_size = 0;
  group.desired_capacity = 0;
  for (model::Machine& machine : group.machines) {
    machine.scale_in_protected = false;
    if (machine.state == model::MachineState::Terminating) continue;
    machine.state = model::MachineState::Terminating;
    machine.changed_at = step.now;
    machine.reason = "Its Auto Scaling group was deleted.";
  }
  step.change(model::AutoScalingGroupPut{std::move(group)});
  return api::autoscaling::DeleteAutoScalingGroupResponse{};
}

}  // namespace control::autoscaling
