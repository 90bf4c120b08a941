#include <algorithm>

#include "api/json.h"
#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/tasks/definition/complete.h"
#include "control/tasks/definition/validate.h"

namespace control::ecs {
namespace {

// Source: ECS service quotas, "Task definition revisions per family".
constexpr int32_t most_revisions = 1'000'000;
// Source: ECS service quotas, "Task definition size".
constexpr size_t most_bytes = size_t{64} << 10;

// Revisions only grow: the number of one that was deregistered or deleted is never given again.
int32_t next_revision(const model::ClusterState& state, const std::string& family) {
  const auto deleted = state.deleted_revisions.find(family);
  const int32_t gone = deleted == state.deleted_revisions.end() ? 0 : deleted->second;
  const auto found = state.task_definitions.find(family);
  const bool known = found != state.task_definitions.end() && !found->second.empty();
  return std::max(gone, known ? found->second.rbegin()->first : 0) + 1;
}

base::Result<void> check_size(const api::ecs::RegisterTaskDefinitionRequest& request) {
  const size_t bytes = api::print(request).size();
  if (bytes <= most_bytes) return {};
  return client_error(
      base::format("Actual length: '{}'. Max allowed length is '{}' bytes.", bytes, most_bytes));
}

}  // namespace

// Each call makes a new revision, also of an equal definition, as AWS does.
Answer<api::ecs::RegisterTaskDefinitionResponse> register_task_definition(
    Step& step, const api::ecs::RegisterTaskDefinitionRequest& request) {
  TRY_VOID(allow(step, "RegisterTaskDefinition", {}));
  TRY_VOID(check_size(request));
  TRY_VOID(validate_task_definition(request));

  model::TaskDefinition made;
  made.family = request.family.value_or("");
  made.revision = next_revision(step.state(), made.family);
  if (made.revision > most_revisions) {
    return client_error(
        base::format("The family {} has all of its {} revisions: register under another family.",
                     made.family, most_revisions));
  }
  made.definition = TRY(complete_task_definition(request));
  made.definition.task_definition_arn =
      model::task_definition_arn(step.settings.account, made.family, made.revision).str();
  made.definition.revision = made.revision;
  made.definition.status = api::ecs::TaskDefinitionStatus::Active;
  made.definition.registered_at = step.now;
  made.definition.registered_by = step.caller.arn;
  made.tags = request.tags;

  api::ecs::RegisterTaskDefinitionResponse response;
  response.task_definition = made.definition;
  response.tags = request.tags;
  response.tags.set_present();
  step.change(model::TaskDefinitionRegistered{std::move(made)});
  return response;
}

}  // namespace control::ecs
