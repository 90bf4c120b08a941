#include "control/ecs/actions/actions.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

base::Result<void> check_scaled_down(const model::Service& service) {
  if (!service.task_sets.empty()) {
    return invalid_parameter(
        "The service cannot be stopped while it has task sets. Delete them, or use force.");
  }
  if (service.scheduling == api::ecs::SchedulingStrategy::Replica && service.desired_count > 0) {
    return invalid_parameter(
        "The service cannot be stopped while it is scaled above 0. Set desiredCount to 0, or use "
        "force.");
  }
  return {};
}

}  // namespace

Answer<api::ecs::DeleteServiceResponse> delete_service(
    Step& step, const api::ecs::DeleteServiceRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DeleteService", cluster->name));
  const model::Service* const service = TRY(require_service(step, cluster->name, request.service));
  if (service->status == model::ServiceStatus::Active) {
    if (!request.force.value_or(false)) TRY_VOID(check_scaled_down(*service));
    model::Service draining = *service;
    draining.status = model::ServiceStatus::Draining;
    draining.desired_count = 0;
    step.change(model::ServicePut{std::move(draining)});
  }
  api::ecs::DeleteServiceResponse response;
  response.service = describe_service(step, *service, true);
  return response;
}

}  // namespace control::ecs
