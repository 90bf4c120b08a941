#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"

namespace control::ec2 {

Answer<api::ec2::ModifyLaunchTemplateResult> modify_launch_template(
    Step& step, const api::ec2::ModifyLaunchTemplateRequest& request) {
  model::LaunchTemplate altered =
      *TRY(require_template(step, request.launch_template_id, request.launch_template_name));
  if (request.default_version) {
    altered.default_version = TRY(require_version(altered, *request.default_version))->number;
  }
  TRY_VOID(check_dry_run(request.dry_run));
  api::ec2::ModifyLaunchTemplateResult response;
  response.launch_template = describe_template(step, altered);
  put_template(step, std::move(altered));
  return response;
}

}  // namespace control::ec2
