#include <algorithm>

#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {
namespace {

// The last activity that still blocks those that honour the cool-down; nullptr when none does.
const model::ScalingActivity* cooling_down(const Step& step, const model::AutoScalingGroup& group) {
  const auto found = step.state().scaling_activities.find(group.name);
  if (found == step.state().scaling_activities.end()) return nullptr;
  const std::chrono::seconds cooldown(group.default_cooldown_s);
  const auto& activities = found->second.activities;
  const auto blocking = std::ranges::find_if(activities, [&](const model::ScalingActivity& one) {
    return !one.ended_at || *one.ended_at + cooldown > step.now;
  });
  return blocking == activities.end() ? nullptr : &*blocking;
}

}  // namespace

Answer<api::autoscaling::SetDesiredCapacityResponse> set_desired_capacity(
    Step& step, const api::autoscaling::SetDesiredCapacityType& request) {
  model::AutoScalingGroup group = *TRY(require_living_group(step, request.auto_scaling_group_name));
  const int32_t desired = request.desired_capacity.value_or(0);
  if (desired > group.max_size) {
    return validation_error(base::format(
        "New SetDesiredCapacity value {} is above max value {} for the AutoScalingGroup.", desired,
        group.max_size));
  }
  if (desired < group.min_size) {
    return validation_error(base::format(
        "New SetDesiredCapacity value {} is below min value {} for the AutoScalingGroup.", desired,
        group.min_size));
  }
  if (request.honor_cooldown.value_or(false)) {
    if (const model::ScalingActivity* const blocking = cooling_down(step, group)) {
      return activity_in_progress(
          base::format("Scaling activity {} is in progress and blocks this action", blocking->id));
    }
  }
  if (group.desired_capacity != desired) {
    group.desired_capacity = desired;
    step.change(model::AutoScalingGroupPut{std::move(group)});
  }
  return api::autoscaling::SetDesiredCapacityResponse{};
}

}  // namespace control::autoscaling
