#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::UpdateContainerAgentResponse> update_container_agent(
    Step& step, const api::ecs::UpdateContainerAgentRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const model::ContainerInstance* const instance =
      TRY(require_instance(step, cluster->name, request.container_instance.value_or("")));
  TRY_VOID(allow(step, "UpdateContainerAgent", cluster->name, instance->arn.str()));
  return base::fail(
      "NoUpdateAvailableException",
      base::format("There is no update for the agent {} of this container instance: Berth offers "
                   "no downloads of agents. Install the new agent on the machine and start it "
                   "there; containers run on meanwhile.",
                   instance->agent_version));
}

}  // namespace control::ecs
