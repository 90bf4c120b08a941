#include <algorithm>

#include "base/format.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"

namespace control::ec2 {
namespace {

using Failed = api::ec2::DeleteLaunchTemplateVersionsResponseErrorItem;

Failed failed(const model::LaunchTemplate& of, int64_t number,
              api::ec2::LaunchTemplateErrorCode code, std::string why) {
  return {.launch_template_id = of.id,
          .launch_template_name = of.name,
          .version_number = number,
          .response_error = api::ec2::ResponseError{.code = code, .message = std::move(why)}};
}

}  // namespace

Answer<api::ec2::DeleteLaunchTemplateVersionsResult> delete_launch_template_versions(
    Step& step, const api::ec2::DeleteLaunchTemplateVersionsRequest& request) {
  using Code = api::ec2::LaunchTemplateErrorCode;
  model::LaunchTemplate altered =
      *TRY(require_template(step, request.launch_template_id, request.launch_template_name));
  api::ec2::DeleteLaunchTemplateVersionsResult response;
  response.successfully_deleted_launch_template_versions.set_present();
  response.unsuccessfully_deleted_launch_template_versions.set_present();
  for (const std::string& text : request.versions) {
    const model::LaunchTemplateVersion* const version = find_version(altered, text);
    if (version == nullptr) {
      response.unsuccessfully_deleted_launch_template_versions.push_back(
          failed(altered, 0, Code::LaunchTemplateVersionDoesNotExist,
                 base::format("The version {} does not exist.", text)));
      continue;
    }
    const int64_t number = version->number;
    if (number == altered.default_version) {
      response.unsuccessfully_deleted_launch_template_versions.push_back(
          failed(altered, number, Code::UnexpectedError,
                 base::format("Version {} is the default version. Make another one the default "
                              "version first.",
                              number)));
      continue;
    }
    std::erase_if(altered.versions, [&](const auto& one) { return one.number == number; });
    response.successfully_deleted_launch_template_versions.push_back(
        {.launch_template_id = altered.id,
         .launch_template_name = altered.name,
         .version_number = number});
  }
  TRY_VOID(check_dry_run(request.dry_run));
  altered.latest_version = altered.versions.back().number;  // The default version is always left.
  put_template(step, std::move(altered));
  return response;
}

}  // namespace control::ec2
