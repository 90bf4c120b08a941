#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::berth::ListAgentKeysResponse> list_agent_keys(
    Step& step, const api::berth::ListAgentKeysRequest& request) {
  const model::Cluster* const cluster =
      request.cluster ? TRY(require_cluster(step, request.cluster)) : nullptr;
  const auto asked = [&](const model::ClusterName& name) {
    return cluster == nullptr || cluster->name == name;
  };
  api::berth::ListAgentKeysResponse response;
  response.agent_keys.set_present();
  response.join_tokens.set_present();
  for (const auto& [id, key] : step.state().agent_keys) {
    if (!asked(key.cluster)) continue;
    api::berth::AgentKeySummary& summary = response.agent_keys.emplace_back();
    summary.access_key_id = id;
    summary.cluster = key.cluster.str();
    if (!key.instance.str().empty()) summary.container_instance_arn = key.instance.str();
    summary.created_at = key.created_at;
  }
  for (const auto& [id, token] : step.state().join_tokens) {
    if (!asked(token.cluster)) continue;
    api::berth::JoinTokenSummary& summary = response.join_tokens.emplace_back();
    summary.token_id = id;
    summary.cluster = token.cluster.str();
    summary.created_at = token.created_at;
    summary.expires_at = token.expires_at;
    summary.uses = token.uses;
    summary.used = static_cast<int32_t>(token.joined.size());
    if (!token.instance.str().empty()) summary.container_instance_arn = token.instance.str();
  }
  return response;
}

}  // namespace control::ecs
