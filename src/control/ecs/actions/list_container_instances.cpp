#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {

Answer<api::ecs::ListContainerInstancesResponse> list_container_instances(
    Step& step, const api::ecs::ListContainerInstancesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "ListContainerInstances", cluster->name));
  Page page(TRY(page_request(request.next_token, request.max_results)));
  const auto wanted = [&](const model::ContainerInstance& instance) {
    if (!request.status) return instance.status != model::InstanceStatus::Inactive;
    return model::to_string(instance.status) == api::to_string(*request.status);
  };
  std::vector<model::InstanceArn> arns;
  if (request.filter && !request.filter->empty()) {
    arns = TRY(step.engine.filter(step.state(), cluster->name, *request.filter));
    std::ranges::sort(arns);
  } else {
    for (const auto& [arn, instance] : step.state().instances) {
      if (instance.cluster == cluster->name) arns.push_back(arn);
    }
  }
  for (const model::InstanceArn& arn : arns) {
    const model::ContainerInstance* const instance = model::find_instance(step.state(), arn);
    if (instance == nullptr || !wanted(*instance) || !page.wants(arn.str())) continue;
    if (!page.add(arn.str())) break;
  }
  api::ecs::ListContainerInstancesResponse response;
  response.container_instance_arns = std::move(page.keys);
  response.container_instance_arns.set_present();
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ecs
