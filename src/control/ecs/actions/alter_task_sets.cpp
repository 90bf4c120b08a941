#include "control/ecs/actions/actions.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/ecs/task_sets.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

base::Result<const model::TaskSet*> require_lasting(const model::Service& service,
                                                    const std::optional<std::string>& name) {
  const model::TaskSet* const set = TRY(require_task_set(service, name));
  if (set->draining) return invalid_parameter("The task set is being deleted.");
  return set;
}

}  // namespace

Answer<api::ecs::UpdateTaskSetResponse> update_task_set(
    Step& step, const api::ecs::UpdateTaskSetRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "UpdateTaskSet", cluster->name));
  const model::Service* const service =
      TRY(require_active_service(step, cluster->name, request.service));
  TRY_VOID(require_external(*service));
  const model::TaskSet* const set = TRY(require_lasting(*service, request.task_set));
  if (!request.scale) return invalid_parameter("scale must be given.");
  const double percent = TRY(scale_percent_of(*request.scale));
  const std::string id = set->id;
  alter_task_set(step, *service, id,
                 [&](model::TaskSet& altered) { altered.scale_percent = percent; });
  api::ecs::UpdateTaskSetResponse response;
  response.task_set = describe_task_set(step, *service, **require_task_set(*service, id), true);
  return response;
}

Answer<api::ecs::UpdateServicePrimaryTaskSetResponse> update_service_primary_task_set(
    Step& step, const api::ecs::UpdateServicePrimaryTaskSetRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "UpdateServicePrimaryTaskSet", cluster->name));
  const model::Service* const service =
      TRY(require_active_service(step, cluster->name, request.service));
  TRY_VOID(require_external(*service));
  const model::TaskSet* const set = TRY(require_lasting(*service, request.primary_task_set));
  const std::string id = set->id;
  model::Service updated = *service;
  for (model::TaskSet& one : updated.task_sets) {
    if (one.primary != (one.id == id)) one.updated_at = step.now;
    one.primary = one.id == id;
    if (one.primary) updated.source.task_definition = one.source.task_definition;
  }
  step.change(model::ServicePut{std::move(updated)});
  api::ecs::UpdateServicePrimaryTaskSetResponse response;
  response.task_set = describe_task_set(step, *service, **require_task_set(*service, id), true);
  return response;
}

Answer<api::ecs::DeleteTaskSetResponse> delete_task_set(
    Step& step, const api::ecs::DeleteTaskSetRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DeleteTaskSet", cluster->name));
  const model::Service* const service =
      TRY(require_active_service(step, cluster->name, request.service));
  TRY_VOID(require_external(*service));
  const model::TaskSet* const set = TRY(require_task_set(*service, request.task_set));
  if (set->scale_percent > 0 && !request.force.value_or(false)) {
    return invalid_parameter(
        "The task set cannot be deleted while it is scaled above 0. Set its scale to 0, or use "
        "force.");
  }
  const std::string id = set->id;
  alter_task_set(step, *service, id, [](model::TaskSet& altered) {
    altered.draining = true;
    altered.primary = false;
  });
  api::ecs::DeleteTaskSetResponse response;
  response.task_set = describe_task_set(step, *service, **require_task_set(*service, id), true);
  return response;
}

}  // namespace control::ecs
