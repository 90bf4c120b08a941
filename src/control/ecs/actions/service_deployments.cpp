#include <algorithm>
#include <functional>

#include "base/arn.h"
#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/paging.h"
#include "control/services/carry_out.h"
#include "reconcile/rollout.h"

namespace control::ecs {
namespace {

constexpr size_t most_described = 20;

api::ecs::ServiceDeploymentBrief brief_of(const Step& step, const model::Service& service,
                                          const model::ServiceDeployment& deployment) {
  api::ecs::ServiceDeploymentBrief made;
  made.service_deployment_arn = deployment.arn.str();
  made.service_arn = service.arn.str();
  made.cluster_arn = model::cluster_arn(step.settings.account, service.cluster);
  made.started_at = deployment.started_at;
  made.created_at = deployment.created_at;
  made.finished_at = deployment.finished_at;
  made.target_service_revision_arn = deployment.target.str();
  made.status = deployment.status;
  if (!deployment.status_reason.empty()) made.status_reason = deployment.status_reason;
  return made;
}

bool deployment_matches(const api::ecs::ListServiceDeploymentsRequest& request,
                        const model::ServiceDeployment& deployment) {
  if (!request.status.empty() &&
      std::ranges::find(request.status, deployment.status) == request.status.end()) {
    return false;
  }
  if (!request.created_at) return true;
  return (!request.created_at->after || deployment.created_at > *request.created_at->after) &&
         (!request.created_at->before || deployment.created_at < *request.created_at->before);
}

// The cluster's name within "arn:...:service-deployment/<cluster>/<service>/<id>".
model::ClusterName cluster_of(std::string_view arn) {
  const auto parsed = base::parse_arn(arn);
  if (!parsed) return {};
  const std::string_view id = parsed->resource_id();
  return model::ClusterName(id.substr(0, id.find('/')));
}

bool is_under_way(const model::ServiceDeployment& deployment) {
  return deployment.status == api::ecs::ServiceDeploymentStatus::InProgress ||
         deployment.status == api::ecs::ServiceDeploymentStatus::Pending;
}

// Its service, whose PRIMARY deployment it is.
base::Result<const model::Service*> service_under_way(const Step& step,
                                                      const model::ServiceDeployment& deployment) {
  const model::Service* const service = model::find_service(step.state(), deployment.service);
  const bool current = service != nullptr && !service->deployments.empty() &&
                       service->deployments.front().service_deployment == deployment.arn;
  if (!current || !is_under_way(deployment)) {
    return base::fail("ConflictException",
                      base::format("The service deployment is {}: it is not in progress any more.",
                                   api::to_string(deployment.status)));
  }
  return service;
}

void give_up(Step& step, const model::Service& service, std::string_view why,
             reconcile::AfterFailure after) {
  const reconcile::Input input{.state = step.state(),
                               .service = service,
                               .now = step.now,
                               .options = reconcile_options(step.settings)};
  reconcile::Plan plan(input, step.random);
  reconcile::stop_primary(plan, why, after);
  keep_decisions(step, service.arn, plan.finish());
}

}  // namespace

Answer<api::ecs::DescribeServiceDeploymentsResponse> describe_service_deployments(
    Step& step, const api::ecs::DescribeServiceDeploymentsRequest& request) {
  if (request.service_deployment_arns.empty() ||
      request.service_deployment_arns.size() > most_described) {
    return invalid_parameter("serviceDeploymentArns must name between 1 and 20 of them.");
  }
  api::ecs::DescribeServiceDeploymentsResponse response;
  response.service_deployments.set_present();
  response.failures.set_present();
  for (const std::string& arn : request.service_deployment_arns) {
    TRY_VOID(allow(step, "DescribeServiceDeployments", cluster_of(arn)));
    const auto* const found =
        model::find_service_deployment(step.state(), model::ServiceDeploymentArn(arn));
    if (found == nullptr) {
      response.failures.push_back(failure(arn, placement::reason_missing));
    } else {
      response.service_deployments.push_back(describe_service_deployment(step, *found));
    }
  }
  return response;
}

// The newest first; a page's token is the last one's time and ARN.
Answer<api::ecs::ListServiceDeploymentsResponse> list_service_deployments(
    Step& step, const api::ecs::ListServiceDeploymentsRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "ListServiceDeployments", cluster->name));
  const model::Service* const service = TRY(require_service(step, cluster->name, request.service));
  const PageRequest page = TRY(page_request(request.next_token, request.max_results));
  std::vector<std::pair<std::string, const model::ServiceDeployment*>> found;
  const auto& all = step.state().service_deployments;
  for (auto it = all.lower_bound(model::service_deployment_arn(service->arn, ""));
       it != all.end() && it->second.service == service->arn; ++it) {
    if (!deployment_matches(request, it->second)) continue;
    found.emplace_back(
        base::format("{:020}{}", it->second.created_at.time_since_epoch().count(), it->first.str()),
        &it->second);
  }
  std::ranges::sort(found, std::greater());
  api::ecs::ListServiceDeploymentsResponse response;
  response.service_deployments.set_present();
  std::string last;
  for (const auto& [key, deployment] : found) {
    if (!page.after.empty() && key >= page.after) continue;
    if (response.service_deployments.size() == page.size) {
      response.next_token = page_token(last);
      break;
    }
    response.service_deployments.push_back(brief_of(step, *service, *deployment));
    last = key;
  }
  return response;
}

Answer<api::ecs::StopServiceDeploymentResponse> stop_service_deployment(
    Step& step, const api::ecs::StopServiceDeploymentRequest& request) {
  TRY_VOID(allow(step, "StopServiceDeployment",
                 cluster_of(request.service_deployment_arn.value_or(""))));
  const auto* const deployment =
      TRY(require_service_deployment(step, request.service_deployment_arn));
  const model::Service* const service = TRY(service_under_way(step, *deployment));
  const bool rolls_back =
      request.stop_type.value_or(api::ecs::StopServiceDeploymentStopType::Rollback) ==
      api::ecs::StopServiceDeploymentStopType::Rollback;
  if (rolls_back && service->completed_revision.empty()) {
    return base::fail("ConflictException",
                      "There is no completed deployment to roll back to: use stopType ABORT.");
  }
  give_up(step, *service, "stopped by a user",
          rolls_back ? reconcile::AfterFailure::RollBack : reconcile::AfterFailure::Stay);
  api::ecs::StopServiceDeploymentResponse response;
  response.service_deployment_arn = request.service_deployment_arn;
  return response;
}

Answer<api::ecs::ContinueServiceDeploymentResponse> continue_service_deployment(
    Step& step, const api::ecs::ContinueServiceDeploymentRequest& request) {
  TRY_VOID(allow(step, "ContinueServiceDeployment",
                 cluster_of(request.service_deployment_arn.value_or(""))));
  const auto* const deployment =
      TRY(require_service_deployment(step, request.service_deployment_arn));
  const model::Service* const service = TRY(service_under_way(step, *deployment));
  if (!deployment->paused_at ||
      api::to_string(*deployment->paused_at) != request.hook_id.value_or("")) {
    return invalid_parameter(
        base::format("No lifecycle hook with the id \"{}\" is awaiting an action.",
                     request.hook_id.value_or("")));
  }
  model::ServiceDeployment updated = *deployment;
  reconcile::end_hook(updated, *deployment->paused_at,
                      api::ecs::DeploymentLifecycleHookStatus::Succeeded);
  updated.updated_at = step.now;
  step.change(model::ServiceDeploymentPut{std::move(updated)});
  if (request.action == api::ecs::DeploymentLifecycleHookAction::Rollback) {
    give_up(step, *service, "rolled back at a lifecycle hook", reconcile::AfterFailure::RollBack);
  }
  api::ecs::ContinueServiceDeploymentResponse response;
  response.service_deployment_arn = request.service_deployment_arn;
  return response;
}

Answer<api::ecs::DescribeServiceRevisionsResponse> describe_service_revisions(
    Step& step, const api::ecs::DescribeServiceRevisionsRequest& request) {
  if (request.service_revision_arns.empty() ||
      request.service_revision_arns.size() > most_described) {
    return invalid_parameter("serviceRevisionArns must name between 1 and 20 of them.");
  }
  api::ecs::DescribeServiceRevisionsResponse response;
  response.service_revisions.set_present();
  response.failures.set_present();
  for (const std::string& arn : request.service_revision_arns) {
    TRY_VOID(allow(step, "DescribeServiceRevisions", cluster_of(arn)));
    const auto* const found =
        model::find_service_revision(step.state(), model::ServiceRevisionArn(arn));
    if (found == nullptr) {
      response.failures.push_back(failure(arn, placement::reason_missing));
    } else {
      response.service_revisions.push_back(describe_service_revision(step, *found));
    }
  }
  return response;
}

}  // namespace control::ecs
