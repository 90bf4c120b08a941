// What CreateAutoScalingGroup and UpdateAutoScalingGroup have in common: the members that make a
// group what it is. Source: Auto Scaling API reference, UpdateAutoScalingGroup.
#pragma once

#include "api/generated/autoscaling.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/capacity.h"

namespace control::autoscaling {

// Sets in `group` what the request names, and checks what comes out. A desired capacity that is not
// named follows the new bounds. Members that only are told back go into `group.echoed`, the JSON of
// an api::autoscaling::AutoScalingGroup; members that Berth cannot honour are refused by name.
// Errors: ValidationError; `group` is then worth nothing.
base::Result<void> take_settings(const Step& step,
                                 const api::autoscaling::UpdateAutoScalingGroupType& request,
                                 model::AutoScalingGroup& group);

// The group's instance type as its launch configuration or template says it now.
// Errors: ValidationError where the template's version is not there or names no type.
base::Result<void> take_instance_type(const Step& step, model::AutoScalingGroup& group);

}  // namespace control::autoscaling
