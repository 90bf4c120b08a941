#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/lists.h"
#include "control/request/echo.h"
#include "model/ids.h"

namespace control::autoscaling {
namespace {

// With the defaults that AWS tells of what was not named.
api::autoscaling::LaunchConfiguration describe(const Step& step,
                                               const model::LaunchConfiguration& configuration) {
  auto told = read_echo<api::autoscaling::LaunchConfiguration>(configuration.echoed);
  told.launch_configuration_name = configuration.name;
  told.launch_configuration_arn =
      model::launch_configuration_arn(step.settings.account, configuration.id, configuration.name);
  told.created_time = configuration.created_at;
  told.instance_type = configuration.instance_type;
  told.image_id = told.image_id.value_or("");
  told.key_name = told.key_name.value_or("");
  told.user_data = configuration.user_data;
  told.kernel_id = told.kernel_id.value_or("");
  told.ramdisk_id = told.ramdisk_id.value_or("");
  told.ebs_optimized = told.ebs_optimized.value_or(false);
  if (!told.instance_monitoring) told.instance_monitoring.emplace().enabled = true;
  told.security_groups.set_present();
  told.block_device_mappings.set_present();
  told.classic_link_vpc_security_groups.set_present();
  return told;
}

}  // namespace

Answer<api::autoscaling::LaunchConfigurationsType> describe_launch_configurations(
    Step& step, const api::autoscaling::LaunchConfigurationNamesType& request) {
  Page page(TRY(records_request(request.next_token, request.max_records, 100)));
  api::autoscaling::LaunchConfigurationsType response;
  response.launch_configurations.set_present();
  for (const auto& [name, configuration] : step.state().launch_configurations) {
    if (!wants(request.launch_configuration_names, name) || !page.wants(name)) continue;
    if (!page.add(name)) break;
    response.launch_configurations.push_back(describe(step, configuration));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::autoscaling
