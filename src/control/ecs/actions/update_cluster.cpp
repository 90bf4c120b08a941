#include "control/ecs/actions/actions.h"
#include "control/ecs/cluster_settings.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

base::Result<const model::Cluster*> named_cluster(const Step& step, std::string_view operation,
                                                  const std::optional<std::string>& name) {
  if (!name || name->empty()) return invalid_parameter("cluster must not be empty.");
  const model::Cluster* const cluster = TRY(require_cluster(step, name));
  TRY_VOID(allow(step, operation, cluster->name));
  return cluster;
}

api::ecs::Cluster put(Step& step, model::Cluster altered) {
  const model::ClusterName name = altered.name;
  step.change(model::ClusterPut{std::move(altered)});
  return describe_cluster(
      step, *model::find_cluster(step.state(), name),
      {.tags = true, .settings = true, .configurations = true, .attachments = true});
}

}  // namespace

// What the call does not name stays as it is.
Answer<api::ecs::UpdateClusterResponse> update_cluster(
    Step& step, const api::ecs::UpdateClusterRequest& request) {
  model::Cluster altered = *TRY(named_cluster(step, "UpdateCluster", request.cluster));
  TRY_VOID(check_cluster_settings(request.settings));
  TRY_VOID(check_cluster_configuration(request.configuration));
  const std::string space = TRY(service_connect_namespace(request.service_connect_defaults));
  if (!request.settings.empty()) altered.settings = request.settings;
  if (request.configuration) altered.configuration = request.configuration;
  if (request.service_connect_defaults) altered.service_connect_namespace = space;
  api::ecs::UpdateClusterResponse response;
  response.cluster = put(step, std::move(altered));
  return response;
}

Answer<api::ecs::UpdateClusterSettingsResponse> update_cluster_settings(
    Step& step, const api::ecs::UpdateClusterSettingsRequest& request) {
  model::Cluster altered = *TRY(named_cluster(step, "UpdateClusterSettings", request.cluster));
  if (request.settings.empty()) return invalid_parameter("settings must not be empty.");
  TRY_VOID(check_cluster_settings(request.settings));
  altered.settings = request.settings;
  api::ecs::UpdateClusterSettingsResponse response;
  response.cluster = put(step, std::move(altered));
  return response;
}

}  // namespace control::ecs
