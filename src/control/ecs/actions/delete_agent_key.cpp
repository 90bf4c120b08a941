#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"

namespace control::ecs {

Answer<api::berth::DeleteAgentKeyResponse> delete_agent_key(
    Step& step, const api::berth::DeleteAgentKeyRequest& request) {
  const std::string id = request.id.value_or("");
  if (step.state().agent_keys.contains(id)) {
    step.change(model::AgentKeyRemoved{id});
  } else if (step.state().join_tokens.contains(id)) {
    step.change(model::JoinTokenRemoved{id});
  } else {
    return invalid_parameter(base::format(
        "There is no agent's key and no join token \"{}\"; `berth token list` shows them.", id));
  }
  return api::berth::DeleteAgentKeyResponse{};
}

}  // namespace control::ecs
