#include "control/agents/agent_bounds.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

// Attachments of tasks are told with SubmitTaskStateChange, and Berth attaches nothing to
// instances: a report is about something that an earlier control plane attached, and the agent may
// forget it.
Answer<api::ecs::SubmitAttachmentStateChangesResponse> submit_attachment_state_changes(
    Step& step, const api::ecs::SubmitAttachmentStateChangesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "SubmitAttachmentStateChanges", cluster->name));
  TRY_VOID(check_bounds(request));
  for (const api::ecs::AttachmentStateChange& attachment : request.attachments) {
    if (!attachment.attachment_arn.value_or("").empty() &&
        !attachment.status.value_or("").empty()) {
      continue;
    }
    return invalid_parameter("Each of attachments needs an attachmentArn and a status.");
  }
  api::ecs::SubmitAttachmentStateChangesResponse response;
  response.acknowledgment = "ACCEPT";
  return response;
}

}  // namespace control::ecs
