#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/request/client_tokens.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/tags.h"
#include "control/services/carry_out.h"
#include "control/services/rules.h"
#include "reconcile/rebalancing.h"
#include "reconcile/rollout.h"

namespace control::ecs {
namespace {

using Rebalancing = api::ecs::AvailabilityZoneRebalancing;

base::Result<void> check_new_service(const api::ecs::CreateServiceRequest& request) {
  TRY_VOID(check_service_name(request.service_name.value_or("")));
  TRY_VOID(check_offered(request));
  if (request.role && !request.role->empty()) {
    return client_error(
        "role is for services behind a load balancer, which Berth does not offer: leave it out.");
  }
  if (request.deployment_controller &&
      request.deployment_controller->type == api::ecs::DeploymentControllerType::CodeDeploy) {
    return client_error(
        "deploymentController CODE_DEPLOY needs AWS CodeDeploy, which Berth does not offer: use "
        "ECS or EXTERNAL.");
  }
  const bool daemon = request.scheduling_strategy == api::ecs::SchedulingStrategy::Daemon;
  if (daemon && request.desired_count) {
    return invalid_parameter(
        "The daemon scheduling strategy does not support a desired count for services. Remove the "
        "desired count value and try again.");
  }
  if (!daemon && !request.desired_count) {
    return invalid_parameter("desiredCount is needed for the scheduling strategy REPLICA.");
  }
  return {};
}

base::Result<model::TaskSource> source_of(const Step& step, const model::Cluster& cluster,
                                          const api::ecs::CreateServiceRequest& request,
                                          api::ecs::DeploymentControllerType controller) {
  model::TaskSource source;
  TRY_VOID(take_capacity(
      step, cluster, request.scheduling_strategy.value_or(api::ecs::SchedulingStrategy::Replica),
      request, source));
  source.network_configuration = named_network(request.network_configuration);
  if (controller == api::ecs::DeploymentControllerType::External) {
    if (request.task_definition && !request.task_definition->empty()) {
      return invalid_parameter(
          "taskDefinition is for the deployment controller ECS: with EXTERNAL, each task set names "
          "its own.");
    }
    return source;
  }
  if (!request.task_definition || request.task_definition->empty()) {
    return invalid_parameter("taskDefinition must not be empty.");
  }
  const model::TaskDefinition* const definition =
      TRY(require_active_task_definition(step, *request.task_definition));
  source.task_definition =
      model::TaskDefinitionArn(definition->definition.task_definition_arn.value_or(""));
  return source;
}

base::Result<model::Service> service_of(const Step& step, const model::Cluster& cluster,
                                        const api::ecs::CreateServiceRequest& request) {
  model::Service made;
  made.name = *request.service_name;
  made.cluster = cluster.name;
  made.arn = model::service_arn(step.settings.account, cluster.name, made.name);
  made.created_at = step.now;
  made.created_by = step.caller.arn;
  made.client_token = request.client_token.value_or("");
  made.request_hash = call_fingerprint(request);
  made.scheduling = request.scheduling_strategy.value_or(api::ecs::SchedulingStrategy::Replica);
  made.controller = request.deployment_controller && request.deployment_controller->type
                        ? *request.deployment_controller->type
                        : api::ecs::DeploymentControllerType::Ecs;
  made.desired_count = request.desired_count.value_or(0);
  made.source = TRY(source_of(step, cluster, request, made.controller));
  made.deployment_configuration =
      TRY(deployment_configuration_of(request.deployment_configuration, {}, made.scheduling));
  made.placement_constraints = request.placement_constraints;
  made.placement_strategy = request.placement_strategy;
  made.health_check_grace_period_seconds = request.health_check_grace_period_seconds;
  made.tags = request.tags;
  made.enable_ecs_managed_tags = request.enable_ecs_managed_tags.value_or(false);
  made.propagate_tags = request.propagate_tags;
  made.enable_execute_command = request.enable_execute_command.value_or(false);
  made.zone_rebalancing = request.availability_zone_rebalancing.value_or(
      reconcile::can_rebalance(made) ? Rebalancing::Enabled : Rebalancing::Disabled);
  TRY_VOID(check_service(step, made));
  return made;
}

// One of that name which is not INACTIVE: the answer to the same call again, or a refusal.
base::Result<void> check_same_call(const model::Service& service,
                                   const api::ecs::CreateServiceRequest& request) {
  if (service.status == model::ServiceStatus::Draining) {
    return invalid_parameter(base::format(
        "Unable to Start a service that is still Draining: the tasks of {} are stopping. Wait "
        "until it is INACTIVE, or take another name.",
        service.name));
  }
  if (service.request_hash == call_fingerprint(request)) return {};
  return invalid_parameter(
      base::format("Creation of service was not idempotent: {} exists with other parameters. Use "
                   "UpdateService, or take another name.",
                   service.name));
}

}  // namespace

Answer<api::ecs::CreateServiceResponse> create_service(
    Step& step, const api::ecs::CreateServiceRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "CreateService", cluster->name));
  TRY_VOID(check_new_service(request));
  api::ecs::CreateServiceResponse response;
  const model::Service* const before = find_service(step, cluster->name, *request.service_name);
  if (before != nullptr && before->status != model::ServiceStatus::Inactive) {
    TRY_VOID(check_same_call(*before, request));
    response.service = describe_service(step, *before, true);
    return response;
  }
  const model::Service made = TRY(service_of(step, *cluster, request));
  if (before != nullptr) forget_service(step, made.arn);
  step.change(model::ServicePut{made});
  if (made.controller == api::ecs::DeploymentControllerType::Ecs) {
    const reconcile::Input input{.state = step.state(),
                                 .service = made,
                                 .now = step.now,
                                 .options = reconcile_options(step.settings)};
    reconcile::Plan plan(input, step.random);
    reconcile::begin_deployment(plan);
    keep_decisions(step, made.arn, plan.finish());
  }
  response.service = describe_service(step, step.state().services.at(made.arn), true);
  return response;
}

}  // namespace control::ecs
