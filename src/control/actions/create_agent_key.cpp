#include "auth/mint.h"
#include "control/actions/actions.h"
#include "control/agent_keys.h"
#include "control/lookup.h"

namespace control {

Answer<api::berth::CreateAgentKeyResponse> create_agent_key(
    Step& step, const api::berth::CreateAgentKeyRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const model::AgentKey key = make_agent_key(step, cluster->name, {});
  api::berth::CreateAgentKeyResponse response;
  response.access_key_id = key.id;
  response.secret_access_key = auth::Mint(step.settings.master_key).agent_secret(key.id);
  response.cluster = key.cluster.str();
  response.region = step.settings.account.region;
  return response;
}

}  // namespace control
