#include <algorithm>

#include "api/shape.h"
#include "base/format.h"
#include "control/capacity/strategy_rules.h"
#include "control/ecs/account_settings.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/cluster_settings.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/plain_name.h"
#include "control/request/tags.h"

namespace control::ecs {
namespace {

base::Result<void> check_cluster_name(const std::string& name) {
  if (!is_plain_name(name)) {
    return invalid_parameter(base::format(
        "clusterName is \"{}\"; it must have 1 to 255 letters, digits, hyphens and underscores.",
        name));
  }
  return {};
}

// Those of the call, and what the account sets for new clusters.
api::List<api::ecs::ClusterSetting> settings_of(const Step& step,
                                                const api::ecs::CreateClusterRequest& request) {
  using api::ecs::SettingName;
  api::List<api::ecs::ClusterSetting> settings = request.settings;
  const bool put =
      step.state().account_settings.contains(api::to_string(SettingName::ContainerInsights));
  if (!put || !settings.empty()) return settings;
  api::ecs::ClusterSetting& insights = settings.emplace_back();
  insights.name = api::ecs::ClusterSettingName::ContainerInsights;
  insights.value = effective_setting(step.state(), SettingName::ContainerInsights);
  return settings;
}

}  // namespace

Answer<api::ecs::CreateClusterResponse> create_cluster(
    Step& step, const api::ecs::CreateClusterRequest& request) {
  const model::ClusterName name(request.cluster_name.value_or("default"));
  TRY_VOID(check_cluster_name(name.str()));
  TRY_VOID(allow(step, "CreateCluster", name));
  std::vector<std::string> providers =
      TRY(check_cluster_providers(step, request.capacity_providers));
  Strategy strategy =
      TRY(check_strategy(step, request.default_capacity_provider_strategy, providers));
  TRY_VOID(check_tags(request.tags, "cluster"));
  TRY_VOID(check_cluster_settings(request.settings));
  TRY_VOID(check_cluster_configuration(request.configuration));
  std::string space = TRY(service_connect_namespace(request.service_connect_defaults));
  const model::Cluster* cluster = model::find_cluster(step.state(), name);
  if (cluster == nullptr || cluster->status != model::ClusterStatus::Active) {
    step.change(model::ClusterPut{{.name = name,
                                   .status = model::ClusterStatus::Active,
                                   .created_at = step.now,
                                   .tags = request.tags,
                                   .settings = settings_of(step, request),
                                   .configuration = request.configuration,
                                   .service_connect_namespace = std::move(space),
                                   .capacity_providers = std::move(providers),
                                   .default_capacity_provider_strategy = std::move(strategy)}});
    cluster = model::find_cluster(step.state(), name);
  }
  api::ecs::CreateClusterResponse response;
  response.cluster = describe_cluster(
      step, *cluster,
      {.tags = true, .settings = true, .configurations = true, .attachments = true});
  return response;
}

}  // namespace control::ecs
