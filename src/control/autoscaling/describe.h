// How groups, machines and activities are told to clients of Auto Scaling.
#pragma once

#include "api/generated/autoscaling.h"
#include "control/step/step.h"
#include "model/capacity.h"

namespace control::autoscaling {

enum class WithInstances : uint8_t { No, Yes };

api::autoscaling::AutoScalingGroup describe_group(const Step& step,
                                                  const model::AutoScalingGroup& group,
                                                  WithInstances with_instances);
// A machine is an instance from the moment that it has an id.
api::autoscaling::AutoScalingInstanceDetails describe_machine(const Step& step,
                                                              const model::AutoScalingGroup& group,
                                                              const model::Machine& machine);
api::autoscaling::Activity describe_activity(const Step& step,
                                             const model::ScalingActivity& activity);
api::autoscaling::TagDescription describe_tag(const model::AutoScalingGroup& group,
                                              const model::GroupTag& tag);

}  // namespace control::autoscaling
