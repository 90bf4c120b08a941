#include "control/ecs/account_settings.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::PutAccountSettingResponse> put_account_setting(
    Step& step, const api::ecs::PutAccountSettingRequest& request) {
  TRY_VOID(allow(step, "PutAccountSetting", {}));
  TRY_VOID(check_principal(step, request.principal_arn));
  api::ecs::PutAccountSettingResponse response;
  response.setting = TRY(put_setting(step, *request.name, request.value.value_or("")));
  return response;
}

}  // namespace control::ecs
