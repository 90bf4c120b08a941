#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

// Source: ECS API reference, DeleteTaskDefinitions, taskDefinitions.
constexpr size_t most_at_once = 10;

}  // namespace

// What runs of them goes on, and their services go on making tasks of them; new ones cannot begin.
// They are gone once nothing refers to them any more (Core::expire).
Answer<api::ecs::DeleteTaskDefinitionsResponse> delete_task_definitions(
    Step& step, const api::ecs::DeleteTaskDefinitionsRequest& request) {
  TRY_VOID(allow(step, "DeleteTaskDefinitions", {}));
  if (request.task_definitions.empty() || request.task_definitions.size() > most_at_once) {
    return invalid_parameter(
        base::format("taskDefinitions must name 1 to {} task definitions; it names {}.",
                     most_at_once, request.task_definitions.size()));
  }
  for (const std::string& name : request.task_definitions) {
    if (model::short_id(name).contains(':')) continue;
    return invalid_parameter(base::format(
        "\"{}\" of taskDefinitions has no revision: give \"family:revision\" or an ARN.", name));
  }
  api::ecs::DeleteTaskDefinitionsResponse response;
  response.task_definitions.set_present();
  response.failures.set_present();
  for (const std::string& name : request.task_definitions) {
    const model::TaskDefinition* const found = find_task_definition(step, name);
    if (found == nullptr) {
      response.failures.push_back(failure(name, "MISSING", "There is no such task definition."));
      continue;
    }
    const std::string arn = found->definition.task_definition_arn.value_or("");
    if (found->definition.status == api::ecs::TaskDefinitionStatus::Active) {
      response.failures.push_back(failure(
          arn, "ACTIVE",
          "The task definition is ACTIVE: deregister it with DeregisterTaskDefinition first."));
      continue;
    }
    if (found->definition.status == api::ecs::TaskDefinitionStatus::Inactive) {
      step.change(model::TaskDefinitionDeleteRequested{model::TaskDefinitionArn(arn), step.now});
    }
    response.task_definitions.push_back(found->definition);
  }
  return response;
}

}  // namespace control::ecs
