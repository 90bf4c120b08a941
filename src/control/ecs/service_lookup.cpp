#include "control/ecs/service_lookup.h"

#include <algorithm>

#include "base/format.h"
#include "control/request/errors.h"

namespace control::ecs {

const model::Service* find_service(const Step& step, const model::ClusterName& cluster,
                                   std::string_view service) {
  // Services made before 2018 have ARNs without the cluster: "service/<name>".
  const std::string_view name = service.starts_with("arn:") ? model::short_id(service) : service;
  const model::ServiceArn arn = model::service_arn(step.settings.account, cluster, name);
  if (service.starts_with("arn:") && service != arn.str() &&
      service.find("/" + cluster.str() + "/") != std::string_view::npos) {
    return nullptr;  // Another account's or region's.
  }
  return model::find_service(step.state(), arn);
}

base::Result<const model::Service*> require_service(const Step& step,
                                                    const model::ClusterName& cluster,
                                                    const std::optional<std::string>& service) {
  if (!service || service->empty()) return invalid_parameter("service must not be empty.");
  const model::Service* const found = find_service(step, cluster, *service);
  if (found == nullptr || found->status == model::ServiceStatus::Inactive) {
    return base::fail("ServiceNotFoundException", "Service not found.");
  }
  return found;
}

base::Result<const model::Service*> require_active_service(
    const Step& step, const model::ClusterName& cluster,
    const std::optional<std::string>& service) {
  if (!service || service->empty()) return invalid_parameter("service must not be empty.");
  const model::Service* const found = find_service(step, cluster, *service);
  if (found == nullptr) return base::fail("ServiceNotFoundException", "Service not found.");
  if (found->status != model::ServiceStatus::Active) {
    return base::fail("ServiceNotActiveException", "Service was not ACTIVE.");
  }
  return found;
}

base::Result<void> require_external(const model::Service& service) {
  if (service.controller == api::ecs::DeploymentControllerType::External) return {};
  return invalid_parameter(base::format(
      "The service {} has the deployment controller {}: task sets are for services with EXTERNAL.",
      service.name, api::to_string(service.controller)));
}

base::Result<const model::TaskSet*> require_task_set(const model::Service& service,
                                                     const std::optional<std::string>& task_set) {
  if (!task_set || task_set->empty()) return invalid_parameter("taskSet must not be empty.");
  const auto found = std::ranges::find_if(service.task_sets, [&](const model::TaskSet& one) {
    return one.id == *task_set || model::short_id(one.id) == *task_set ||
           model::task_set_arn(service.arn, one.id) == *task_set;
  });
  if (found == service.task_sets.end()) {
    return base::fail("TaskSetNotFoundException", "The specified task set wasn't found.");
  }
  return &*found;
}

base::Result<const model::ServiceDeployment*> require_service_deployment(
    const Step& step, const std::optional<std::string>& arn) {
  if (!arn || arn->empty()) return invalid_parameter("serviceDeploymentArn must not be empty.");
  const auto* const found =
      model::find_service_deployment(step.state(), model::ServiceDeploymentArn(*arn));
  if (found == nullptr) {
    return base::fail("ServiceDeploymentNotFoundException",
                      "The service deploy ARN that you specified in the request doesn't exist.");
  }
  return found;
}

}  // namespace control::ecs
