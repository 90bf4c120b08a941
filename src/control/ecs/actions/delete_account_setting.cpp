#include "api/shape.h"
#include "control/ecs/account_settings.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DeleteAccountSettingResponse> delete_account_setting(
    Step& step, const api::ecs::DeleteAccountSettingRequest& request) {
  TRY_VOID(allow(step, "DeleteAccountSetting", {}));
  TRY_VOID(check_principal(step, request.principal_arn));
  const std::string name(api::to_string(*request.name));
  if (step.state().account_settings.contains(name)) step.change(model::AccountSettingRemoved{name});
  api::ecs::DeleteAccountSettingResponse response;
  response.setting =
      describe_setting(step, *request.name, effective_setting(step.state(), *request.name));
  return response;
}

}  // namespace control::ecs
