#include "control/services/rules.h"

#include <algorithm>

#include "base/format.h"
#include "control/capacity/strategy_rules.h"
#include "control/request/errors.h"
#include "control/request/plain_name.h"
#include "control/request/tags.h"
#include "control/services/service_tasks.h"
#include "reconcile/rebalancing.h"

namespace control {
namespace {

constexpr int32_t most_tasks_a_service = 5000;  // "Tasks per service".
constexpr int32_t most_percent = 10'000;

std::unexpected<base::Error> not_offered_member(std::string_view member, std::string_view needs) {
  return client_error(
      base::format("{} needs {}, which Berth does not offer: leave it out.", member, needs));
}

base::Result<void> check_hook(const api::ecs::DeploymentLifecycleHook& hook) {
  if (hook.target_type != api::ecs::DeploymentLifecycleHookTargetType::Pause) {
    return client_error(
        "deploymentConfiguration.lifecycleHooks: Berth offers the target type PAUSE only.");
  }
  if (hook.lifecycle_stages.empty()) {
    return invalid_parameter("A lifecycle hook must name one lifecycle stage at least.");
  }
  for (const api::ecs::DeploymentLifecycleHookStage stage : hook.lifecycle_stages) {
    if (stage == api::ecs::DeploymentLifecycleHookStage::PreScaleUp ||
        stage == api::ecs::DeploymentLifecycleHookStage::PostScaleUp) {
      continue;
    }
    return client_error(base::format(
        "deploymentConfiguration.lifecycleHooks: the stage {} is of deployments that shift "
        "traffic; a ROLLING one has PRE_SCALE_UP and POST_SCALE_UP.",
        api::to_string(stage)));
  }
  return {};
}

base::Result<void> check_rolling(const api::ecs::DeploymentConfiguration& configuration) {
  if (configuration.strategy != api::ecs::DeploymentStrategy::Rolling) {
    return client_error(base::format(
        "deploymentConfiguration.strategy {} shifts a load balancer's traffic, which Berth does "
        "not offer: use ROLLING.",
        api::to_string(*configuration.strategy)));
  }
  if (configuration.linear_configuration || configuration.canary_configuration) {
    return not_offered_member("deploymentConfiguration.linearConfiguration or canaryConfiguration",
                              "a load balancer");
  }
  if (configuration.alarms && configuration.alarms->enable.value_or(false)) {
    return not_offered_member("deploymentConfiguration.alarms", "CloudWatch alarms");
  }
  if (configuration.early_success_criteria &&
      configuration.early_success_criteria->enable.value_or(false)) {
    return client_error(
        "deploymentConfiguration.earlySuccessCriteria is not offered by this version of Berth.");
  }
  for (const auto& hook : configuration.lifecycle_hooks) TRY_VOID(check_hook(hook));
  return {};
}

base::Result<void> check_breaker(const api::ecs::DeploymentConfiguration& configuration) {
  const auto& breaker = configuration.deployment_circuit_breaker;
  if (!breaker || !breaker->threshold_configuration) return {};
  const int32_t value = breaker->threshold_configuration->value.value_or(50);
  const bool percent = breaker->threshold_configuration->type != api::ecs::ThresholdType::Count;
  if (value < 1 || (percent && value > 100)) {
    return invalid_parameter(
        base::format("deploymentCircuitBreaker.thresholdConfiguration.value is {}; it must be {}.",
                     value, percent ? "between 1 and 100 percent" : "1 or more"));
  }
  return {};
}

base::Result<void> check_percents(const api::ecs::DeploymentConfiguration& configuration,
                                  api::ecs::SchedulingStrategy scheduling) {
  const int32_t minimum = *configuration.minimum_healthy_percent;
  const int32_t maximum = *configuration.maximum_percent;
  if (minimum < 0 || minimum > 100) {
    return invalid_parameter(
        base::format("minimumHealthyPercent is {}; it must be between 0 and 100.", minimum));
  }
  if (scheduling == api::ecs::SchedulingStrategy::Daemon && maximum != 100) {
    return invalid_parameter(
        "The daemon scheduling strategy does not support values above 100 for maximumPercent: a "
        "daemon's task stops before its replacement starts.");
  }
  if (maximum < 100 || maximum > most_percent) {
    return invalid_parameter(base::format("maximumPercent is {}; it must be between 100 and {}.",
                                          maximum, most_percent));
  }
  if (configuration.bake_time_in_minutes &&
      (*configuration.bake_time_in_minutes < 0 || *configuration.bake_time_in_minutes > 1440)) {
    return invalid_parameter("bakeTimeInMinutes must be between 0 and 1440.");
  }
  return {};
}

template <class T>
void take_given(std::optional<T>& over, const std::optional<T>& given) {
  if (given) over = given;
}

base::Result<void> check_daemon(const model::Service& service) {
  if (service.scheduling != api::ecs::SchedulingStrategy::Daemon) return {};
  if (!service.source.capacity_provider_strategy.empty()) {
    return invalid_parameter(
        "The daemon scheduling strategy does not support a capacity provider strategy: it places "
        "one task on each instance that its constraints allow.");
  }
  if (!service.placement_strategy.empty()) {
    return invalid_parameter(
        "The daemon scheduling strategy does not support placement strategies: it places one task "
        "on each instance that its constraints allow.");
  }
  for (const auto& constraint : service.placement_constraints) {
    if (constraint.type == api::ecs::PlacementConstraintType::DistinctInstance) {
      return invalid_parameter(
          "The daemon scheduling strategy places one task on each instance already: leave "
          "distinctInstance out.");
    }
  }
  if (service.controller != api::ecs::DeploymentControllerType::Ecs) {
    return invalid_parameter(
        "The daemon scheduling strategy supports the deployment controller ECS only.");
  }
  return {};
}

}  // namespace

base::Result<void> check_service_name(const std::string& name) {
  if (!is_plain_name(name)) {
    return invalid_parameter(base::format(
        "serviceName is \"{}\"; it must have 1 to 255 letters, digits, hyphens and underscores.",
        name));
  }
  return {};
}

base::Result<std::string> service_launch_type(const std::optional<api::ecs::LaunchType>& type) {
  if (!type) return std::string();
  if (*type == api::ecs::LaunchType::Ec2 || *type == api::ecs::LaunchType::External) {
    return std::string(api::to_string(*type));
  }
  return client_error(base::format(
      "launchType {} runs on machines of AWS; Berth runs tasks on your own with EC2 or EXTERNAL.",
      api::to_string(*type)));
}

template <class Request>
base::Result<void> take_capacity(const Step& step, const model::Cluster& cluster,
                                 api::ecs::SchedulingStrategy scheduling, const Request& request,
                                 model::TaskSource& source) {
  source.launch_type = TRY(service_launch_type(request.launch_type));
  if (scheduling == api::ecs::SchedulingStrategy::Daemon &&
      request.capacity_provider_strategy.empty()) {
    return {};
  }
  source.capacity_provider_strategy = TRY(strategy_for(
      step, cluster, request.capacity_provider_strategy, request.launch_type.has_value()));
  return {};
}

template base::Result<void> take_capacity(const Step&, const model::Cluster&,
                                          api::ecs::SchedulingStrategy,
                                          const api::ecs::CreateServiceRequest&,
                                          model::TaskSource&);
template base::Result<void> take_capacity(const Step&, const model::Cluster&,
                                          api::ecs::SchedulingStrategy,
                                          const api::ecs::CreateTaskSetRequest&,
                                          model::TaskSource&);

std::optional<api::ecs::NetworkConfiguration> named_network(
    const std::optional<api::ecs::NetworkConfiguration>& given) {
  return given && given->awsvpc_configuration ? given : std::nullopt;
}

template <class Request>
base::Result<void> check_offered(const Request& request) {
  if (!request.load_balancers.empty()) {
    return not_offered_member("loadBalancers", "Elastic Load Balancing");
  }
  if (!request.service_registries.empty()) {
    return not_offered_member("serviceRegistries", "AWS Cloud Map");
  }
  if (request.platform_version && !request.platform_version->empty()) {
    return client_error("platformVersion is for launchType FARGATE, which Berth does not offer.");
  }
  if constexpr (requires { request.volume_configurations; }) {
    if (!request.volume_configurations.empty()) {
      return not_offered_member("volumeConfigurations", "Amazon EBS");
    }
    if (!request.vpc_lattice_configurations.empty()) {
      return not_offered_member("vpcLatticeConfigurations", "Amazon VPC Lattice");
    }
    if (!request.gateway_connectors.empty()) {
      return not_offered_member("gatewayConnectors", "a gateway of AWS");
    }
    if (request.monitoring) return not_offered_member("monitoring", "Amazon CloudWatch");
    const auto& connect = request.service_connect_configuration;
    if (connect && connect->enabled.value_or(false)) {
      return not_offered_member("serviceConnectConfiguration", "AWS Cloud Map");
    }
  }
  return {};
}

template base::Result<void> check_offered(const api::ecs::CreateServiceRequest&);
template base::Result<void> check_offered(const api::ecs::UpdateServiceRequest&);
template base::Result<void> check_offered(const api::ecs::CreateTaskSetRequest&);

base::Result<api::ecs::DeploymentConfiguration> deployment_configuration_of(
    const std::optional<api::ecs::DeploymentConfiguration>& given,
    const api::ecs::DeploymentConfiguration& before, api::ecs::SchedulingStrategy scheduling) {
  api::ecs::DeploymentConfiguration made = before;
  if (given) {
    take_given(made.deployment_circuit_breaker, given->deployment_circuit_breaker);
    take_given(made.maximum_percent, given->maximum_percent);
    take_given(made.minimum_healthy_percent, given->minimum_healthy_percent);
    take_given(made.alarms, given->alarms);
    take_given(made.strategy, given->strategy);
    take_given(made.bake_time_in_minutes, given->bake_time_in_minutes);
    take_given(made.linear_configuration, given->linear_configuration);
    take_given(made.canary_configuration, given->canary_configuration);
    take_given(made.early_success_criteria, given->early_success_criteria);
    if (given->lifecycle_hooks.present()) made.lifecycle_hooks = given->lifecycle_hooks;
  }
  const bool daemon = scheduling == api::ecs::SchedulingStrategy::Daemon;
  if (!made.minimum_healthy_percent) made.minimum_healthy_percent = daemon ? 0 : 100;
  if (!made.maximum_percent) made.maximum_percent = daemon ? 100 : 200;
  if (!made.strategy) made.strategy = api::ecs::DeploymentStrategy::Rolling;
  if (!made.bake_time_in_minutes) made.bake_time_in_minutes = 0;
  if (!made.deployment_circuit_breaker) {
    made.deployment_circuit_breaker.emplace();
    made.deployment_circuit_breaker->enable = false;
    made.deployment_circuit_breaker->rollback = false;
  }
  TRY_VOID(check_rolling(made));
  TRY_VOID(check_breaker(made));
  TRY_VOID(check_percents(made, scheduling));
  return made;
}

base::Result<void> check_service(const Step& step, const model::Service& service) {
  if (service.desired_count < 0 || service.desired_count > most_tasks_a_service) {
    return invalid_parameter(base::format("desiredCount is {}; it must be between 0 and {}.",
                                          service.desired_count, most_tasks_a_service));
  }
  if (service.health_check_grace_period_seconds.value_or(0) < 0) {
    return invalid_parameter("healthCheckGracePeriodSeconds must not be negative.");
  }
  TRY_VOID(check_daemon(service));
  TRY_VOID(check_tags(service.tags, "service"));
  TRY_VOID(placement::validate(service.placement_constraints, service.placement_strategy));
  if (service.zone_rebalancing == api::ecs::AvailabilityZoneRebalancing::Enabled &&
      !reconcile::can_rebalance(service)) {
    return invalid_parameter(
        "availabilityZoneRebalancing ENABLED needs a REPLICA service with the deployment "
        "controller ECS, a maximumPercent above 100, and no placement strategy or as its first one "
        "spread by attribute:ecs.availability-zone.");
  }
  if (service.controller == api::ecs::DeploymentControllerType::External) return {};
  return check_service_task(step, service, service.source);
}

}  // namespace control
