#include "api/json.h"
#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/errors.h"
#include "control/request/echo.h"

namespace control::autoscaling {

Answer<api::autoscaling::CreateLaunchConfigurationResponse> create_launch_configuration(
    Step& step, const api::autoscaling::CreateLaunchConfigurationType& request) {
  const std::string name = request.launch_configuration_name.value_or("");
  if (name.find_first_of(":/") != std::string::npos) {
    return validation_error(base::format(
        "LaunchConfigurationName is \"{}\"; a name has neither a colon nor a slash.", name));
  }
  if (step.state().launch_configurations.contains(name)) {
    return already_exists(base::format(
        "Launch Configuration by this name already exists - A launch configuration already exists "
        "with the name {}",
        name));
  }
  if (request.instance_id) {
    return validation_error("InstanceId is not offered: name ImageId and InstanceType.");
  }
  if (!request.instance_type) {
    return validation_error(
        "Valid requests must contain either the InstanceID parameter or both the ImageId and "
        "InstanceType parameters.");
  }
  api::autoscaling::LaunchConfiguration echo;
  copy_members(request, echo);
  step.change(model::LaunchConfigurationPut{{.name = name,
                                             .id = step.random.uuid(),
                                             .created_at = step.now,
                                             .instance_type = *request.instance_type,
                                             .user_data = request.user_data.value_or(""),
                                             .echoed = api::print(echo)}});
  return api::autoscaling::CreateLaunchConfigurationResponse{};
}

}  // namespace control::autoscaling
