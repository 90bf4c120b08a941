#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DescribeClustersResponse> describe_clusters(
    Step& step, const api::ecs::DescribeClustersRequest& request) {
  const auto asked = [&](api::ecs::ClusterField field) {
    return std::ranges::find(request.include, field) != request.include.end();
  };
  const ClusterInclude include{.tags = asked(api::ecs::ClusterField::Tags),
                               .settings = asked(api::ecs::ClusterField::Settings),
                               .configurations = asked(api::ecs::ClusterField::Configurations),
                               .statistics = asked(api::ecs::ClusterField::Statistics),
                               .attachments = asked(api::ecs::ClusterField::Attachments)};
  std::vector<std::string> names(request.clusters.begin(), request.clusters.end());
  if (names.empty()) names.emplace_back("default");

  api::ecs::DescribeClustersResponse response;
  response.clusters.set_present();
  response.failures.set_present();
  for (const std::string& text : names) {
    const auto name = cluster_name(step, text);
    const model::Cluster* const cluster = name ? model::find_cluster(step.state(), *name) : nullptr;
    if (cluster != nullptr) {
      TRY_VOID(allow(step, "DescribeClusters", cluster->name));
      response.clusters.push_back(describe_cluster(step, *cluster, include));
      continue;
    }
    const std::string arn =
        text.starts_with("arn:") ? text : model::cluster_arn(step.settings.account, *name);
    response.failures.push_back(failure(arn, placement::reason_missing));
  }
  return response;
}

}  // namespace control::ecs
