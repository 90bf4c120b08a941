#include "control/agents/agent_bounds.h"
#include "control/agents/reports.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::SubmitContainerStateChangeResponse> submit_container_state_change(
    Step& step, const api::ecs::SubmitContainerStateChangeRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "SubmitContainerStateChange", cluster->name));
  TRY_VOID(check_bounds(request));
  TRY_VOID(take_container_report(step, cluster->name, request));
  api::ecs::SubmitContainerStateChangeResponse response;
  response.acknowledgment = "ACCEPT";
  return response;
}

}  // namespace control::ecs
