#include <algorithm>

#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {
namespace {

// What orders the list: family, then revision as a number.
std::string sort_key(const std::string& family, int32_t revision) {
  return base::format("{} {:010}", family, revision);
}

}  // namespace

Answer<api::ecs::ListTaskDefinitionsResponse> list_task_definitions(
    Step& step, const api::ecs::ListTaskDefinitionsRequest& request) {
  TRY_VOID(allow(step, "ListTaskDefinitions", {}));
  const auto status = request.status.value_or(api::ecs::TaskDefinitionStatus::Active);
  std::vector<std::pair<std::string, std::string>> found;  // Sort key, ARN.
  for (const auto& [family, revisions] : step.state().task_definitions) {
    // Source: ECS API reference, ListTaskDefinitions, familyPrefix: "the full family name".
    if (request.family_prefix && family != *request.family_prefix) continue;
    for (const auto& [revision, definition] : revisions) {
      if (definition.definition.status != status) continue;
      found.emplace_back(sort_key(family, revision),
                         definition.definition.task_definition_arn.value_or(""));
    }
  }
  std::ranges::sort(found);
  const bool descending = request.sort == api::ecs::SortOrder::Desc;
  if (descending) std::ranges::reverse(found);

  const PageRequest asked = TRY(page_request(request.next_token, request.max_results));
  api::ecs::ListTaskDefinitionsResponse response;
  response.task_definition_arns.set_present();
  std::string last;
  for (const auto& [key, arn] : found) {
    const bool seen =
        !asked.after.empty() && (descending ? key >= asked.after : key <= asked.after);
    if (seen) continue;
    if (response.task_definition_arns.size() == asked.size) {
      response.next_token = page_token(last);
      break;
    }
    response.task_definition_arns.push_back(arn);
    last = key;
  }
  return response;
}

}  // namespace control::ecs
