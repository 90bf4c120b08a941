// From what a client of Auto Scaling calls a thing to the thing.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "api/generated/autoscaling.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control::autoscaling {

// Errors: ValidationError, "AutoScalingGroup name not found - ...".
base::Result<const model::AutoScalingGroup*> require_group(const Step& step,
                                                           const std::optional<std::string>& name);
// The same, of a group that is not being deleted. Errors: also ScalingActivityInProgress.
base::Result<const model::AutoScalingGroup*> require_living_group(
    const Step& step, const std::optional<std::string>& name);

// The launch template that the specification names by id or by name.
// Errors: ValidationError.
base::Result<const model::LaunchTemplate*> require_launch_template(
    const Step& step, const api::autoscaling::LaunchTemplateSpecification& specification);

// The group and the machine of this id; both nullptr when there is none.
struct FoundMachine {
  const model::AutoScalingGroup* group = nullptr;
  const model::Machine* machine = nullptr;
};
FoundMachine find_machine(const model::ClusterState& state, std::string_view id);

}  // namespace control::autoscaling
