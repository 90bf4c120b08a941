#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/group_settings.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {

Answer<api::autoscaling::UpdateAutoScalingGroupResponse> update_auto_scaling_group(
    Step& step, const api::autoscaling::UpdateAutoScalingGroupType& request) {
  model::AutoScalingGroup group = *TRY(require_living_group(step, request.auto_scaling_group_name));
  TRY_VOID(take_settings(step, request, group));
  step.change(model::AutoScalingGroupPut{std::move(group)});
  return api::autoscaling::UpdateAutoScalingGroupResponse{};
}

}  // namespace control::autoscaling
