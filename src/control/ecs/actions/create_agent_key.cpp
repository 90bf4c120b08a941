#include "auth/key_derivation.h"
#include "control/agents/agent_keys.h"
#include "control/ecs/actions/actions.h"

namespace control::ecs {

Answer<api::berth::CreateAgentKeyResponse> create_agent_key(
    Step& step, const api::berth::CreateAgentKeyRequest& request) {
  const KeyOwner owner = TRY(key_owner(step, request.cluster, request.container_instance));
  const model::AgentKey key = make_agent_key(step, owner, {});
  api::berth::CreateAgentKeyResponse response;
  response.access_key_id = key.id;
  response.secret_access_key = auth::KeyDerivation(step.settings.master_key).agent_secret(key.id);
  response.cluster = key.cluster.str();
  response.region = step.settings.account.region;
  return response;
}

}  // namespace control::ecs
