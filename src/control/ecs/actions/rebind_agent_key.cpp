#include <vector>

#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::berth::RebindAgentKeyResponse> rebind_agent_key(
    Step& step, const api::berth::RebindAgentKeyRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const model::ContainerInstance* const instance =
      TRY(require_instance(step, cluster->name, request.container_instance.value_or("")));
  const std::string id = request.id.value_or("");
  const auto found = step.state().agent_keys.find(id);
  if (found == step.state().agent_keys.end()) {
    return invalid_parameter(
        base::format("There is no agent's key \"{}\"; `berth token list` shows them.", id));
  }
  const model::AgentKey& key = found->second;
  const auto* const other = model::find_instance(step.state(), key.instance);
  if (other != nullptr && other != instance && other->status != model::InstanceStatus::Inactive) {
    return client_error(base::format(
        "The key {} is that of the container instance {}. If that one is not needed any more, "
        "deregister it first.",
        id, key.instance.str()));
  }
  model::AgentKey bound = key;
  bound.instance = instance->arn;
  std::vector<std::string> former;
  for (const auto& [one, before] : step.state().agent_keys) {
    if (before.instance == instance->arn && one != id) former.push_back(one);
  }
  step.refused_claims.erase(instance->arn);
  step.change(model::AgentKeyPut{std::move(bound)});
  for (std::string& one : former) step.change(model::AgentKeyRemoved{std::move(one)});
  return api::berth::RebindAgentKeyResponse{};
}

}  // namespace control::ecs
