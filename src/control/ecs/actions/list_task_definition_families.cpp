#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {
namespace {

// Source: ECS API reference, ListTaskDefinitionFamilies, status: ACTIVE families have an ACTIVE
// revision, INACTIVE ones have none.
bool wanted(api::ecs::TaskDefinitionFamilyStatus status,
            const std::map<int32_t, model::TaskDefinition>& revisions) {
  if (status == api::ecs::TaskDefinitionFamilyStatus::All) return true;
  const bool active = std::ranges::any_of(revisions, [](const auto& entry) {
    return entry.second.definition.status == api::ecs::TaskDefinitionStatus::Active;
  });
  return active == (status == api::ecs::TaskDefinitionFamilyStatus::Active);
}

}  // namespace

Answer<api::ecs::ListTaskDefinitionFamiliesResponse> list_task_definition_families(
    Step& step, const api::ecs::ListTaskDefinitionFamiliesRequest& request) {
  TRY_VOID(allow(step, "ListTaskDefinitionFamilies", {}));
  Page page(TRY(page_request(request.next_token, request.max_results)));
  const auto status = request.status.value_or(api::ecs::TaskDefinitionFamilyStatus::All);
  for (const auto& [family, revisions] : step.state().task_definitions) {
    if (request.family_prefix && !family.starts_with(*request.family_prefix)) continue;
    if (!wanted(status, revisions) || !page.wants(family)) continue;
    if (!page.add(family)) break;
  }
  api::ecs::ListTaskDefinitionFamiliesResponse response;
  response.families = std::move(page.keys);
  response.families.set_present();
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ecs
