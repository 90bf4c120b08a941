#include "control/ecs/account_settings.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::PutAccountSettingDefaultResponse> put_account_setting_default(
    Step& step, const api::ecs::PutAccountSettingDefaultRequest& request) {
  TRY_VOID(allow(step, "PutAccountSettingDefault", {}));
  api::ecs::PutAccountSettingDefaultResponse response;
  response.setting = TRY(put_setting(step, *request.name, request.value.value_or("")));
  return response;
}

}  // namespace control::ecs
