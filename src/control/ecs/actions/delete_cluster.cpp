#include <algorithm>

#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

base::Result<void> check_empty(const Step& step, const model::ClusterName& name) {
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.cluster != name) continue;
    if (!instance.tasks.empty()) {
      return base::fail("ClusterContainsTasksException",
                        base::format("The Cluster cannot be deleted while Tasks are active: {} on "
                                     "container instance {}. Stop them first.",
                                     instance.tasks.begin()->str(), arn.str()));
    }
    if (instance.status != model::InstanceStatus::Inactive) {
      return base::fail(
          "ClusterContainsContainerInstancesException",
          base::format("The Cluster cannot be deleted while Container Instances are active or "
                       "draining: {}. Deregister them first.",
                       arn.str()));
    }
  }
  const auto waiting = step.state().waiting_tasks.find(name);
  if (waiting != step.state().waiting_tasks.end()) {
    return base::fail("ClusterContainsTasksException",
                      base::format("The Cluster cannot be deleted while Tasks are active: {} waits "
                                   "for capacity. Stop it first.",
                                   waiting->second.begin()->str()));
  }
  for (const auto& [arn, service] : step.state().services) {
    if (service.cluster != name || service.status == model::ServiceStatus::Inactive) continue;
    return base::fail("ClusterContainsServicesException",
                      base::format("The Cluster cannot be deleted while Services are active: {}. "
                                   "Delete them first.",
                                   arn.str()));
  }
  return {};
}

}  // namespace

Answer<api::ecs::DeleteClusterResponse> delete_cluster(
    Step& step, const api::ecs::DeleteClusterRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DeleteCluster", cluster->name));
  TRY_VOID(check_empty(step, cluster->name));
  step.change(model::ClusterDeleted{cluster->name});
  api::ecs::DeleteClusterResponse response;
  response.cluster = describe_cluster(step, *cluster, {});
  return response;
}

}  // namespace control::ecs
