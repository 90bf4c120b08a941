#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/errors.h"

namespace control::autoscaling {

Answer<api::autoscaling::DeleteLaunchConfigurationResponse> delete_launch_configuration(
    Step& step, const api::autoscaling::LaunchConfigurationNameType& request) {
  const std::string name = request.launch_configuration_name.value_or("");
  if (!step.state().launch_configurations.contains(name)) {
    return validation_error(base::format(
        "Launch configuration name not found - Launch configuration {} not found", name));
  }
  for (const auto& [group_name, group] : step.state().auto_scaling_groups) {
    if (group.launch_configuration != name) continue;
    return resource_in_use(base::format(
        "Cannot delete launch configuration {} because it is attached to AutoScalingGroup {}", name,
        group_name));
  }
  step.change(model::LaunchConfigurationForgotten{name});
  return api::autoscaling::DeleteLaunchConfigurationResponse{};
}

}  // namespace control::autoscaling
