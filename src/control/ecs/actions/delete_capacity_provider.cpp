#include <algorithm>

#include "base/format.h"
#include "control/capacity/groups/machines.h"
#include "control/capacity/providers.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"

namespace control::ecs {
namespace {

base::Result<void> check_in_no_cluster(const Step& step, const std::string& name) {
  for (const auto& [cluster_name, cluster] : step.state().clusters) {
    if (cluster.status != model::ClusterStatus::Active ||
        std::ranges::find(cluster.capacity_providers, name) == cluster.capacity_providers.end()) {
      continue;
    }
    return client_error(base::format(
        "The capacity provider cannot be deleted because it is associated with cluster: {}. Remove "
        "the capacity provider from the cluster with PutClusterCapacityProviders and try again.",
        cluster_name.str()));
  }
  return {};
}

}  // namespace

Answer<api::ecs::DeleteCapacityProviderResponse> delete_capacity_provider(
    Step& step, const api::ecs::DeleteCapacityProviderRequest& request) {
  const model::CapacityProvider* const found =
      TRY(require_provider(step, "capacityProvider", request.capacity_provider.value_or("")));
  TRY_VOID(check_in_no_cluster(step, found->name));
  model::CapacityProvider gone = *found;
  gone.status = api::ecs::CapacityProviderStatus::Inactive;
  gone.update_status = api::ecs::CapacityProviderUpdateStatus::DeleteComplete;
  gone.update_status_reason.clear();
  const model::AutoScalingGroup* const group = group_of_provider(step.state(), gone);
  if (group != nullptr) give_instances(step, *group, {});
  step.change(model::CapacityProviderForgotten{gone.name});
  api::ecs::DeleteCapacityProviderResponse response;
  response.capacity_provider = describe_provider(step, gone, true);
  return response;
}

}  // namespace control::ecs
