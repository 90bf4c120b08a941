#include "control/ec2/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"
#include "control/echo.h"

namespace control::ec2 {

// With a source version, what the call does not name is taken from there.
Answer<api::ec2::CreateLaunchTemplateVersionResult> create_launch_template_version(
    Step& step, const api::ec2::CreateLaunchTemplateVersionRequest& request) {
  const model::LaunchTemplate* const found =
      TRY(require_template(step, request.launch_template_id, request.launch_template_name));
  api::ec2::RequestLaunchTemplateData data;
  if (request.source_version) {
    const auto* const source = TRY(require_version(*found, *request.source_version));
    data = read_echo<api::ec2::RequestLaunchTemplateData>(source->data);
  }
  copy_members(*TRY(require_data(request.launch_template_data)), data);
  model::LaunchTemplate altered = *found;
  const int64_t number = altered.latest_version + 1;
  altered.versions.push_back(TRY(make_version(step, number, request.version_description, data)));
  altered.latest_version = number;
  TRY_VOID(check_dry_run(request.dry_run));
  api::ec2::CreateLaunchTemplateVersionResult response;
  response.launch_template_version = describe_version(step, altered, altered.versions.back());
  put_template(step, std::move(altered));
  return response;
}

}  // namespace control::ec2
