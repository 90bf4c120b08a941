#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

// Running tasks and their restarts by services go on; new ones cannot begin.
Answer<api::ecs::DeregisterTaskDefinitionResponse> deregister_task_definition(
    Step& step, const api::ecs::DeregisterTaskDefinitionRequest& request) {
  TRY_VOID(allow(step, "DeregisterTaskDefinition", {}));
  const std::string& name = request.task_definition.value_or("");
  if (model::short_id(name).find(':') == std::string_view::npos) {
    return client_error("Task definition must have a revision: \"family:revision\" or an ARN.");
  }
  const model::TaskDefinition* const found = TRY(require_task_definition(step, name));
  if (found->definition.status == api::ecs::TaskDefinitionStatus::Active) {
    step.change(model::TaskDefinitionDeregistered{
        model::TaskDefinitionArn(found->definition.task_definition_arn.value_or("")), step.now});
  }
  api::ecs::DeregisterTaskDefinitionResponse response;
  response.task_definition = found->definition;
  return response;
}

}  // namespace control::ecs
