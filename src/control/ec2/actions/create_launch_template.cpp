#include <algorithm>

#include "api/json.h"
#include "base/format.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/errors.h"
#include "control/ec2/launch_templates.h"
#include "control/ec2/template_tags.h"
#include "control/request/client_tokens.h"

namespace control::ec2 {
namespace {

base::Result<void> check_name(std::string_view name) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789().-/_";
  if (name.find_first_not_of(allowed) == std::string_view::npos) return {};
  return base::fail("InvalidLaunchTemplateName.MalformedException",
                    base::format("The launch template name '{}' is malformed; it has letters, "
                                 "digits and ( ) . - / _ alone.",
                                 name));
}

// The one that the same call has made before; nullptr when there is none.
base::Result<const model::LaunchTemplate*> template_made_before(
    const Step& step, const api::ec2::CreateLaunchTemplateRequest& request,
    const std::string& request_hash) {
  if (request.client_token.value_or("").empty()) return nullptr;
  const auto& templates = step.state().launch_templates;
  const auto found = std::ranges::find_if(
      templates, [&](const auto& one) { return one.second.client_token == *request.client_token; });
  if (found == templates.end()) return nullptr;
  if (found->second.request_hash == request_hash) return &found->second;
  return token_mismatch(*request.client_token);
}

base::Result<void> check_new(const Step& step, const std::string& name) {
  TRY_VOID(check_name(name));
  for (const auto& [id, one] : step.state().launch_templates) {
    if (one.name != name) continue;
    return base::fail("InvalidLaunchTemplateName.AlreadyExistsException",
                      base::format("Launch template name already in use: {} is {}.", name, id));
  }
  return {};
}

}  // namespace

Answer<api::ec2::CreateLaunchTemplateResult> create_launch_template(
    Step& step, const api::ec2::CreateLaunchTemplateRequest& request) {
  api::ec2::CreateLaunchTemplateResult response;
  const std::string request_hash = request_fingerprint(api::print(request));
  if (const model::LaunchTemplate* const before =
          TRY(template_made_before(step, request, request_hash))) {
    response.launch_template = describe_template(step, *before);
    return response;
  }
  model::LaunchTemplate made;
  made.name = request.launch_template_name.value_or("");
  TRY_VOID(check_new(step, made.name));
  made.tags = TRY(template_tags(request.tag_specifications));
  const auto* const data = TRY(require_data(request.launch_template_data));
  made.versions.push_back(TRY(make_version(step, 1, request.version_description, *data)));
  TRY_VOID(check_dry_run(request.dry_run));
  made.id = "lt-" + step.random.hex(17);
  made.created_at = step.now;
  made.client_token = request.client_token.value_or("");
  made.request_hash = request_hash;
  response.launch_template = describe_template(step, made);
  put_template(step, std::move(made));
  return response;
}

}  // namespace control::ec2
