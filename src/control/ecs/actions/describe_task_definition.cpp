#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DescribeTaskDefinitionResponse> describe_task_definition(
    Step& step, const api::ecs::DescribeTaskDefinitionRequest& request) {
  TRY_VOID(allow(step, "DescribeTaskDefinition", {}));
  const model::TaskDefinition* const found =
      TRY(require_task_definition(step, request.task_definition.value_or("")));
  api::ecs::DescribeTaskDefinitionResponse response;
  response.task_definition = found->definition;
  response.tags.set_present();
  const bool tags = std::ranges::find(request.include, api::ecs::TaskDefinitionField::Tags) !=
                    request.include.end();
  if (tags) response.tags = found->tags;
  return response;
}

}  // namespace control::ecs
