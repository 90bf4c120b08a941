#include "control/ecs/actions/actions.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"

namespace control::ecs {

Answer<api::ecs::ListClustersResponse> list_clusters(Step& step,
                                                     const api::ecs::ListClustersRequest& request) {
  TRY_VOID(allow(step, "ListClusters", {}));
  Page page(TRY(page_request(request.next_token, request.max_results)));
  for (const auto& [name, cluster] : step.state().clusters) {
    if (cluster.status != model::ClusterStatus::Active) continue;
    std::string arn = model::cluster_arn(step.settings.account, name);
    if (page.wants(arn) && !page.add(std::move(arn))) break;
  }
  api::ecs::ListClustersResponse response;
  response.cluster_arns = std::move(page.keys);
  response.cluster_arns.set_present();
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::ecs
