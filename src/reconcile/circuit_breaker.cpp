#include "reconcile/circuit_breaker.h"

#include <algorithm>

#include "reconcile/rollout.h"

namespace reconcile {
namespace {

constexpr int32_t default_percent = 50;
constexpr int32_t least_failures = 3;
constexpr int32_t most_failures = 200;

int32_t percent_of(int32_t percent, int32_t count) {
  return static_cast<int32_t>((int64_t{percent} * count + 99) / 100);
}

bool resets(const api::ecs::DeploymentConfiguration& configuration) {
  const auto& breaker = configuration.deployment_circuit_breaker;
  return !breaker || breaker->reset_on_healthy_task.value_or(true);
}

void count_healthy(Plan& plan, int32_t healthy) {
  const model::Deployment& primary = plan.service().deployments.front();
  if (healthy == primary.healthy_seen) return;
  const bool more = healthy > primary.healthy_seen;
  model::Deployment& altered = plan.altered().deployments.front();
  altered.healthy_seen = healthy;
  if (!more) return;
  altered.failures_in_row = 0;
  altered.start_not_before.reset();
  if (resets(plan.service().deployment_configuration)) altered.breaker_failures = 0;
}

}  // namespace

int32_t breaker_threshold(const api::ecs::DeploymentConfiguration& configuration,
                          int32_t desired_count) {
  using Type = api::ecs::ThresholdType;
  const auto& breaker = configuration.deployment_circuit_breaker;
  const auto threshold = breaker ? breaker->threshold_configuration : std::nullopt;
  const Type type = threshold && threshold->type ? *threshold->type : Type::BoundedPercent;
  const int32_t value = threshold && threshold->value ? *threshold->value : default_percent;
  switch (type) {
    case Type::Count:
      return std::max(value, 1);
    case Type::UnboundedPercent:
      return std::max(percent_of(value, desired_count), 1);
    case Type::BoundedPercent:
      break;
  }
  return std::clamp(percent_of(value, desired_count), least_failures, most_failures);
}

bool breaker_enabled(const api::ecs::DeploymentConfiguration& configuration) {
  const auto& breaker = configuration.deployment_circuit_breaker;
  return breaker && breaker->enable.value_or(false);
}

void watch_primary(Plan& plan, const ClassifiedTasks& classified) {
  if (plan.service().deployments.empty()) return;
  const std::string id = plan.service().deployments.front().id;
  count_healthy(plan, count_of(classified.group(id), Phase::Healthy));
  const model::Deployment& primary = plan.service().deployments.front();
  const auto& configuration = plan.service().deployment_configuration;
  if (primary.rollout_state != api::ecs::DeploymentRolloutState::InProgress ||
      !breaker_enabled(configuration)) {
    return;
  }
  const int32_t threshold = breaker_threshold(configuration, plan.service().desired_count);
  const auto* const kept =
      model::find_service_deployment(plan.input.state, primary.service_deployment);
  const bool tripped = primary.breaker_failures >= threshold;
  const bool news = kept != nullptr && (kept->failure_count != primary.breaker_failures ||
                                        kept->threshold != threshold || tripped);
  if (news) {
    model::ServiceDeployment& rollout = *plan.rollout(primary.service_deployment);
    rollout.failure_count = primary.breaker_failures;
    rollout.threshold = threshold;
    rollout.updated_at = plan.input.now;
    if (tripped) rollout.breaker = api::ecs::ServiceDeploymentRollbackMonitorsStatus::Triggered;
  }
  if (!tripped) return;
  fail_primary(plan, "tasks failed to start",
               configuration.deployment_circuit_breaker->rollback.value_or(false)
                   ? AfterFailure::RollBack
                   : AfterFailure::Stay);
}

void note_unhealthy(Plan& plan) {
  model::Deployment& primary = plan.altered().deployments.front();
  ++primary.failed_tasks;
  if (primary.rollout_state == api::ecs::DeploymentRolloutState::InProgress) {
    ++primary.breaker_failures;
  }
}

}  // namespace reconcile
