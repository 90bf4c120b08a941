#include "control/ecs/account_settings.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {
// Those that somebody has put; with effectiveSettings all that there are.
Answer<api::ecs::ListAccountSettingsResponse> list_account_settings(
    Step& step, const api::ecs::ListAccountSettingsRequest& request) {
  TRY_VOID(allow(step, "ListAccountSettings", {}));
  TRY_VOID(check_principal(step, request.principal_arn));
  if (request.value && !request.name) {
    return invalid_parameter("value filters the settings of one name: give name too.");
  }
  Page page(TRY(page_request(request.next_token, request.max_results, 10)));
  api::ecs::ListAccountSettingsResponse response;
  response.settings.set_present();
  for (const auto& [text, name] : setting_names()) {
    if (request.name && name != *request.name) continue;
    std::string value = effective_setting(step.state(), name);
    const bool put = step.state().account_settings.contains(text);
    if (value.empty() || !(put || request.effective_settings.value_or(false))) continue;
    if (request.value && value != *request.value) continue;
    if (!page.wants(text)) continue;
    if (!page.add(text)) break;
    response.settings.push_back(describe_setting(step, name, std::move(value)));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ecs
