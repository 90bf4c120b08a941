#include <algorithm>

#include "control/actions/actions.h"
#include "control/describe.h"
#include "control/errors.h"
#include "control/lookup.h"

namespace control {

Answer<api::ecs::DescribeContainerInstancesResponse> describe_container_instances(
    Step& step, const api::ecs::DescribeContainerInstancesRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DescribeContainerInstances", cluster->name));
  if (request.container_instances.empty()) {
    return invalid_parameter("Container instances cannot be empty.");
  }
  if (request.container_instances.size() > 100) {
    return invalid_parameter("At most 100 container instances can be described in one call.");
  }
  const bool tags = std::ranges::find(request.include, api::ecs::ContainerInstanceField::Tags) !=
                    request.include.end();
  api::ecs::DescribeContainerInstancesResponse response;
  response.container_instances.set_present();
  response.failures.set_present();
  for (const std::string& text : request.container_instances) {
    const model::ContainerInstance* const instance = find_instance(step, cluster->name, text);
    if (instance != nullptr) {
      response.container_instances.push_back(describe_instance(step, *instance, tags));
      continue;
    }
    const std::string arn =
        text.starts_with("arn:")
            ? text
            : model::instance_arn(step.settings.account, cluster->name, text).str();
    response.failures.push_back(failure(arn, placement::reason_missing));
  }
  return response;
}

}  // namespace control
