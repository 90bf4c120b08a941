#include <algorithm>

#include "api/json.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"
#include "control/request/client_tokens.h"
#include "control/request/echo.h"

namespace control::ec2 {
namespace {

struct Made {
  const model::LaunchTemplate* launch_template = nullptr;
  const model::LaunchTemplateVersion* version = nullptr;
};

// What the same call has made before; nothing when there is none.
base::Result<Made> version_made_before(const Step& step, const std::optional<std::string>& token,
                                       const std::string& request_hash) {
  if (token.value_or("").empty()) return Made{};
  for (const auto& [id, one] : step.state().launch_templates) {
    const auto found =
        std::ranges::find(one.versions, *token, &model::LaunchTemplateVersion::client_token);
    if (found == one.versions.end()) continue;
    if (found->request_hash == request_hash) return Made{&one, &*found};
    return token_mismatch(*token);
  }
  return Made{};
}

}  // namespace

// With a source version, what the call does not name is taken from there.
Answer<api::ec2::CreateLaunchTemplateVersionResult> create_launch_template_version(
    Step& step, const api::ec2::CreateLaunchTemplateVersionRequest& request) {
  api::ec2::CreateLaunchTemplateVersionResult response;
  const std::string request_hash = request_fingerprint(api::print(request));
  const Made before = TRY(version_made_before(step, request.client_token, request_hash));
  if (before.version != nullptr) {
    response.launch_template_version =
        describe_version(step, *before.launch_template, *before.version);
    return response;
  }
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
  altered.versions.back().client_token = request.client_token.value_or("");
  altered.versions.back().request_hash = request_hash;
  altered.latest_version = number;
  TRY_VOID(check_dry_run(request.dry_run));
  response.launch_template_version = describe_version(step, altered, altered.versions.back());
  put_template(step, std::move(altered));
  return response;
}

}  // namespace control::ec2
