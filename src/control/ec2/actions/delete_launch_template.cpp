#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"

namespace control::ec2 {

// As on EC2, a group that launches from it does not keep it; that group's next launch fails.
Answer<api::ec2::DeleteLaunchTemplateResult> delete_launch_template(
    Step& step, const api::ec2::DeleteLaunchTemplateRequest& request) {
  const model::LaunchTemplate* const found =
      TRY(require_template(step, request.launch_template_id, request.launch_template_name));
  TRY_VOID(check_dry_run(request.dry_run));
  api::ec2::DeleteLaunchTemplateResult response;
  response.launch_template = describe_template(step, *found);
  step.change(model::LaunchTemplateForgotten{found->id});
  return response;
}

}  // namespace control::ec2
