#include "auth/key_derivation.h"
#include "control/agents/agent_keys.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"

namespace control::ecs {
namespace {

constexpr int64_t default_ttl_seconds = 3600;

}  // namespace

Answer<api::berth::CreateJoinTokenResponse> create_join_token(
    Step& step, const api::berth::CreateJoinTokenRequest& request) {
  const KeyOwner owner = TRY(key_owner(step, request.cluster, request.container_instance));
  if (!owner.instance.str().empty() && request.uses.value_or(1) != 1) {
    return invalid_parameter(
        "uses must be 1 with containerInstance: a container instance has one agent.");
  }
  model::JoinToken token{
      .id = step.random.hex(16),
      .cluster = owner.cluster,
      .created_at = step.now,
      .expires_at =
          step.now + std::chrono::seconds(request.ttl_seconds.value_or(default_ttl_seconds)),
      .uses = request.uses.value_or(1),
      .joined = {},
      .instance = owner.instance};
  api::berth::CreateJoinTokenResponse response;
  response.token_id = token.id;
  response.token = auth::KeyDerivation(step.settings.master_key).join_token(token.id);
  response.cluster = token.cluster.str();
  response.expires_at = token.expires_at;
  response.uses = token.uses;
  step.change(model::JoinTokenPut{std::move(token)});
  return response;
}

}  // namespace control::ecs
