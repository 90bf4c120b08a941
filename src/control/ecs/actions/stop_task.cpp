#include "control/capacity/waiting.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::StopTaskResponse> stop_task(Step& step, const api::ecs::StopTaskRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "StopTask", cluster->name));
  const model::Task* const task = TRY(require_task(step, cluster->name, request.task.value_or("")));
  if (request.reason && request.reason->size() > 1024) {
    return invalid_parameter("reason must have at most 1024 characters.");
  }
  if (task->last_status != model::TaskStatus::Stopped &&
      task->desired_status != model::TaskStatus::Stopped) {
    std::string reason = request.reason.value_or("Task stopped by user");
    if (task->waiting) {
      end_waiting_task(step, task->arn, "UserInitiated", std::move(reason));
    } else {
      step.change(
          model::TaskStopRequested{task->arn, "UserInitiated", std::move(reason), step.now});
    }
  }
  api::ecs::StopTaskResponse response;
  response.task = describe_task(step, *task, true);
  return response;
}

}  // namespace control::ecs
