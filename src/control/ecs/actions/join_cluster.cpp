#include "auth/key_derivation.h"
#include "base/format.h"
#include "control/agents/agent_keys.h"
#include "control/ecs/actions/actions.h"

namespace control::ecs {
namespace {

std::unexpected<base::Error> refused(std::string_view why) {
  return base::fail(
      "AccessDeniedException",
      base::format("The join token {}. Make a new one with `berth token create`.", why));
}

}  // namespace

Answer<api::berth::JoinClusterResponse> join_cluster(
    Step& step, const api::berth::JoinClusterRequest& request) {
  const auth::KeyDerivation derivation(step.settings.master_key);
  const auto id = derivation.join_token_id(request.token.value_or(""));
  const auto found = id ? step.state().join_tokens.find(*id) : step.state().join_tokens.end();
  if (found == step.state().join_tokens.end()) {
    return refused("is not one of this server, or was taken back");
  }
  model::JoinToken token = found->second;
  if (token.expires_at <= step.now) {
    return refused(base::format("has expired at {}", base::format_rfc3339(token.expires_at)));
  }
  const std::string name = request.agent_name.value_or("");
  const auto joined = token.joined.find(name);
  const auto known = joined == token.joined.end() ? step.state().agent_keys.end()
                                                  : step.state().agent_keys.find(joined->second);
  model::AgentKey key;
  if (known != step.state().agent_keys.end()) {
    key = known->second;  // Its first answer was lost on the way.
  } else {
    if (std::cmp_greater_equal(token.joined.size(), token.uses)) {
      return refused(base::format("has been used by {} machine(s), as many as it is for",
                                  token.joined.size()));
    }
    key = make_agent_key(step, {token.cluster, token.instance}, token.id);
    token.joined[name] = key.id;
    step.change(model::JoinTokenPut{std::move(token)});
  }
  api::berth::JoinClusterResponse response;
  response.access_key_id = key.id;
  response.secret_access_key = derivation.agent_secret(key.id);
  response.cluster = key.cluster.str();
  response.region = step.settings.account.region;
  return response;
}

}  // namespace control::ecs
