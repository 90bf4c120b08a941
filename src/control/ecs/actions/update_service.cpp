#include "base/format.h"
#include "control/capacity/strategy_rules.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/services/carry_out.h"
#include "control/services/rules.h"
#include "reconcile/rebalancing.h"
#include "reconcile/rollout.h"

namespace control::ecs {
namespace {

base::Result<void> check_update(const model::Service& service,
                                const api::ecs::UpdateServiceRequest& request) {
  TRY_VOID(check_offered(request));
  if (service.scheduling == api::ecs::SchedulingStrategy::Daemon && request.desired_count) {
    return invalid_parameter(
        "The daemon scheduling strategy does not support a desired count for services. Remove the "
        "desired count value and try again.");
  }
  if (request.deployment_controller && request.deployment_controller->type &&
      *request.deployment_controller->type != service.controller) {
    return client_error(base::format(
        "The deployment controller of a service cannot be changed from {}: create another service.",
        api::to_string(service.controller)));
  }
  const bool deploys = request.task_definition || request.network_configuration ||
                       request.capacity_provider_strategy.present() ||
                       request.force_new_deployment.value_or(false);
  if (service.controller == api::ecs::DeploymentControllerType::External && deploys) {
    return invalid_parameter(
        "taskDefinition, networkConfiguration, capacityProviderStrategy and forceNewDeployment are "
        "for the deployment controller ECS: with EXTERNAL, make a new task set.");
  }
  return {};
}

base::Result<model::TaskSource> updated_source(const Step& step, const model::Cluster& cluster,
                                               const model::Service& before,
                                               const api::ecs::UpdateServiceRequest& request) {
  model::TaskSource source = before.source;
  if (request.task_definition) {
    const model::TaskDefinition* const definition =
        TRY(require_active_task_definition(step, *request.task_definition));
    source.task_definition =
        model::TaskDefinitionArn(definition->definition.task_definition_arn.value_or(""));
  }
  if (request.network_configuration) {
    source.network_configuration = named_network(request.network_configuration);
  }
  // An empty list: the cluster's default strategy, which a DAEMON does not follow, or none.
  const bool daemon = before.scheduling == api::ecs::SchedulingStrategy::Daemon;
  const auto& strategy = request.capacity_provider_strategy;
  if (strategy.present() && !(daemon && strategy.empty())) {
    source.capacity_provider_strategy = TRY(strategy_for(step, cluster, strategy, false));
    source.launch_type.clear();
  }
  return source;
}

// What the service is after the call. Members that the call leaves out stay as they are; an empty
// list of constraints or strategies takes them away.
base::Result<model::Service> updated(const Step& step, const model::Cluster& cluster,
                                     const model::Service& before,
                                     const api::ecs::UpdateServiceRequest& request) {
  model::Service made = before;
  if (request.desired_count) made.desired_count = *request.desired_count;
  made.source = TRY(updated_source(step, cluster, before, request));
  made.deployment_configuration = TRY(deployment_configuration_of(
      request.deployment_configuration, before.deployment_configuration, before.scheduling));
  if (request.placement_constraints.present()) {
    made.placement_constraints = request.placement_constraints;
  }
  if (request.placement_strategy.present()) made.placement_strategy = request.placement_strategy;
  if (request.health_check_grace_period_seconds) {
    made.health_check_grace_period_seconds = request.health_check_grace_period_seconds;
  }
  if (request.enable_execute_command) {
    made.enable_execute_command = *request.enable_execute_command;
  }
  if (request.enable_ecs_managed_tags) {
    made.enable_ecs_managed_tags = *request.enable_ecs_managed_tags;
  }
  if (request.propagate_tags) made.propagate_tags = request.propagate_tags;
  if (request.availability_zone_rebalancing) {
    made.zone_rebalancing = *request.availability_zone_rebalancing;
  } else if (!reconcile::can_rebalance(made)) {
    made.zone_rebalancing = api::ecs::AvailabilityZoneRebalancing::Disabled;
  }
  TRY_VOID(check_service(step, made));
  return made;
}

}  // namespace

Answer<api::ecs::UpdateServiceResponse> update_service(
    Step& step, const api::ecs::UpdateServiceRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "UpdateService", cluster->name));
  const model::Service* const before =
      TRY(require_active_service(step, cluster->name, request.service));
  TRY_VOID(check_update(*before, request));
  const model::Service made = TRY(updated(step, *cluster, *before, request));
  const bool deploys =
      made.controller == api::ecs::DeploymentControllerType::Ecs &&
      (made.source != before->source || request.force_new_deployment.value_or(false));
  step.change(model::ServicePut{made});
  if (deploys) {
    const reconcile::Input input{.state = step.state(),
                                 .service = made,
                                 .now = step.now,
                                 .options = reconcile_options(step.settings)};
    reconcile::Plan plan(input, step.random);
    reconcile::begin_deployment(plan);
    keep_decisions(step, made.arn, plan.finish());
  }
  api::ecs::UpdateServiceResponse response;
  response.service = describe_service(step, step.state().services.at(made.arn), true);
  return response;
}

}  // namespace control::ecs
