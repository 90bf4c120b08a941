#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {
namespace {

bool service_matches(const api::ecs::ListServicesRequest& request, const model::Service& service) {
  if (service.status == model::ServiceStatus::Inactive) return false;
  if (request.scheduling_strategy && *request.scheduling_strategy != service.scheduling) {
    return false;
  }
  if (request.resource_management_type &&
      *request.resource_management_type != api::ecs::ResourceManagementType::Customer) {
    return false;
  }
  if (!request.launch_type) return true;
  const std::string& type = service.source.launch_type;
  return api::to_string(*request.launch_type) == (type.empty() ? "EC2" : type);
}

}  // namespace

// As ListTasks: the map is ordered by ARN, and so by cluster.
Answer<api::ecs::ListServicesResponse> list_services(Step& step,
                                                     const api::ecs::ListServicesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "ListServices", cluster->name));
  const PageRequest page_asked = TRY(page_request(request.next_token, request.max_results));
  const model::ServiceArn first = model::service_arn(step.settings.account, cluster->name, "");
  const auto& services = step.state().services;
  Page page(page_asked);
  for (auto it = services.lower_bound(std::max(first, model::ServiceArn(page_asked.after)));
       it != services.end() && it->second.cluster == cluster->name; ++it) {
    if (!service_matches(request, it->second) || !page.wants(it->first.str())) continue;
    if (!page.add(it->first.str())) break;
  }
  api::ecs::ListServicesResponse response;
  response.service_arns = std::move(page.keys);
  response.service_arns.set_present();
  response.next_token = page.next_token;
  return response;
}

// No service can be made in a namespace of AWS Cloud Map (serviceConnectConfiguration is refused by
// its name), so no namespace is known.
Answer<api::ecs::ListServicesByNamespaceResponse> list_services_by_namespace(
    Step& step, const api::ecs::ListServicesByNamespaceRequest& request) {
  TRY_VOID(allow(step, "ListServicesByNamespace", {}));
  TRY_VOID(page_request(request.next_token, request.max_results));
  return base::fail("NamespaceNotFoundException",
                    "The specified namespace wasn't found: services of Berth are in no namespace "
                    "of AWS Cloud Map.");
}

}  // namespace control::ecs
