#include <algorithm>

#include "base/format.h"
#include "control/capacity/strategy_rules.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

std::unexpected<base::Error> in_use(const std::string& provider, std::string_view what,
                                    std::string_view arn) {
  return base::fail("ResourceInUseException",
                    base::format("The specified capacity provider {} is in use by the {} {} and "
                                 "cannot be removed from the cluster.",
                                 provider, what, model::short_id(arn)));
}

base::Result<void> check_unused_by_services(const Step& step, const model::Cluster& cluster,
                                            const std::string& provider) {
  for (const auto& [arn, service] : step.state().services) {
    if (service.cluster != cluster.name || service.status != model::ServiceStatus::Active) continue;
    const bool named = names_provider(service.source.capacity_provider_strategy, provider) ||
                       std::ranges::any_of(service.task_sets, [&](const model::TaskSet& set) {
                         return names_provider(set.source.capacity_provider_strategy, provider);
                       });
    if (named) return in_use(provider, "service", arn.str());
  }
  return {};
}

// "You can only disassociate an existing capacity provider from a cluster if it's not being used by
// any existing tasks."
base::Result<void> check_removed(const Step& step, const model::Cluster& cluster,
                                 const std::vector<std::string>& stay) {
  std::vector<std::string> removed;
  for (const std::string& name : cluster.capacity_providers) {
    const bool stays = std::ranges::find(stay, name) != stay.end();
    if (!stays && name != model::berth_queue) removed.push_back(name);
  }
  if (removed.empty()) return {};
  for (const std::string& name : removed) {
    TRY_VOID(check_unused_by_services(step, cluster, name));
  }
  for (const auto& [arn, task] : step.state().tasks) {
    if (task.cluster != cluster.name || task.last_status == model::TaskStatus::Stopped) continue;
    if (std::ranges::find(removed, task.capacity_provider) != removed.end()) {
      return in_use(task.capacity_provider, "task", arn.str());
    }
  }
  return {};
}

}  // namespace

Answer<api::ecs::PutClusterCapacityProvidersResponse> put_cluster_capacity_providers(
    Step& step, const api::ecs::PutClusterCapacityProvidersRequest& request) {
  if (!request.cluster || request.cluster->empty()) {
    return invalid_parameter("cluster must not be empty.");
  }
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "PutClusterCapacityProviders", cluster->name));
  std::vector<std::string> providers =
      TRY(check_cluster_providers(step, request.capacity_providers));
  Strategy strategy =
      TRY(check_strategy(step, request.default_capacity_provider_strategy, providers));
  TRY_VOID(check_removed(step, *cluster, providers));
  model::Cluster altered = *cluster;
  altered.capacity_providers = std::move(providers);
  altered.default_capacity_provider_strategy = std::move(strategy);
  step.change(model::ClusterPut{std::move(altered)});
  api::ecs::PutClusterCapacityProvidersResponse response;
  response.cluster = describe_cluster(
      step, *cluster,
      {.tags = true, .settings = true, .configurations = true, .attachments = true});
  return response;
}

}  // namespace control::ecs
