#include "control/agents/agent_bounds.h"
#include "control/agents/reports.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::SubmitTaskStateChangeResponse> submit_task_state_change(
    Step& step, const api::ecs::SubmitTaskStateChangeRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "SubmitTaskStateChange", cluster->name));
  TRY_VOID(check_bounds(request, step.settings.most_gpus_per_instance));
  TRY_VOID(take_task_report(step, cluster->name, request));
  api::ecs::SubmitTaskStateChangeResponse response;
  response.acknowledgment = "ACCEPT";
  return response;
}

}  // namespace control::ecs
