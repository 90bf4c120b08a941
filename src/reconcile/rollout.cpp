#include "reconcile/rollout.h"

#include <algorithm>

#include "base/format.h"
#include "reconcile/circuit_breaker.h"

namespace reconcile {
namespace {

using RolloutState = api::ecs::DeploymentRolloutState;
using Status = api::ecs::ServiceDeploymentStatus;
using Monitor = api::ecs::ServiceDeploymentRollbackMonitorsStatus;
using Stage = api::ecs::DeploymentLifecycleHookStage;
using HookStatus = api::ecs::DeploymentLifecycleHookStatus;

std::string digits(base::Random& random, uint32_t count) {
  std::string text(1, static_cast<char>('1' + random.below(9)));
  while (text.size() < count) text += static_cast<char>('0' + random.below(10));
  return text;
}

model::Deployment deployment_of(Plan& plan, model::ServiceRevisionArn revision,
                                model::ServiceDeploymentArn rollout) {
  model::Deployment made;
  made.id = "ecs-svc/" + digits(plan.random, 19);
  made.revision = std::move(revision);
  made.service_deployment = std::move(rollout);
  made.created_at = plan.input.now;
  made.updated_at = plan.input.now;
  made.rollout_state_reason = base::format("ECS deployment {} in progress.", made.id);
  return made;
}

bool ended(Status status) {
  return status == Status::Successful || status == Status::Stopped ||
         status == Status::RollbackSuccessful || status == Status::RollbackFailed;
}

void end_rollout(Plan& plan, const model::ServiceDeploymentArn& arn, Status status,
                 std::string reason) {
  const model::ServiceDeployment* const kept = plan.rollout_as_is(arn);
  if (kept == nullptr || ended(kept->status)) return;
  model::ServiceDeployment& rollout = *plan.rollout(arn);
  rollout.status = status;
  rollout.status_reason = std::move(reason);
  rollout.updated_at = plan.input.now;
  rollout.finished_at = plan.input.now;
  rollout.paused_at.reset();
  if (status == Status::Stopped) rollout.stopped_at = plan.input.now;
  if (rollout.breaker == Monitor::Monitoring) rollout.breaker = Monitor::MonitoringComplete;
}

void begin_rollback(Plan& plan, const model::ServiceRevision& target, std::string_view why) {
  auto& deployments = plan.altered().deployments;
  const model::ServiceDeploymentArn rollout = deployments.front().service_deployment;
  const auto kept = std::ranges::find(deployments, target.arn, &model::Deployment::revision);
  if (kept != deployments.end()) {
    std::rotate(deployments.begin(), kept, kept + 1);
  } else {
    deployments.insert(deployments.begin(), deployment_of(plan, target.arn, rollout));
  }
  model::Deployment& primary = deployments.front();
  primary.service_deployment = rollout;
  primary.rollout_state = RolloutState::InProgress;
  primary.rollout_state_reason =
      base::format("ECS deployment: rolling back to deployment {}.", primary.id);
  primary.updated_at = plan.input.now;
  primary.breaker_failures = 0;
  primary.failures_in_row = 0;
  primary.start_not_before.reset();
  plan.altered().source = target.source;
  if (model::ServiceDeployment* const record = plan.rollout(rollout)) {
    record->status = Status::RollbackInProgress;
    record->status_reason = std::string(why);
    record->updated_at = plan.input.now;
    record->paused_at.reset();
    record->baking_since.reset();
    record->rollback.emplace();
    record->rollback->reason = std::string(why);
    record->rollback->started_at = plan.input.now;
    record->rollback->service_revision_arn = target.arn.str();
  }
  plan.decisions.events.push_back(rollback_event(plan.service(), primary.id));
}

void fail(Plan& plan, std::string_view why, std::string reason, AfterFailure after) {
  model::Deployment& primary = plan.altered().deployments.front();
  const bool was_rollback = [&] {
    const auto* const rollout = plan.rollout_as_is(primary.service_deployment);
    return rollout != nullptr && rollout->rollback.has_value();
  }();
  primary.rollout_state = RolloutState::Failed;
  primary.rollout_state_reason = reason;
  primary.updated_at = plan.input.now;
  plan.decisions.events.push_back(failed_event(plan.service(), primary.id, why));
  const model::ServiceRevision* const target =
      model::find_service_revision(plan.input.state, plan.service().completed_revision);
  const bool can = target != nullptr && target->arn != primary.revision && !was_rollback;
  if (after == AfterFailure::RollBack && can) {
    begin_rollback(plan, *target, reason);
    return;
  }
  const bool wanted = was_rollback || after == AfterFailure::RollBack;
  end_rollout(plan, primary.service_deployment, wanted ? Status::RollbackFailed : Status::Stopped,
              wanted && !was_rollback
                  ? reason + " There is no completed deployment to roll back to."
                  : std::move(reason));
}

const api::ecs::DeploymentLifecycleHook* hook_at(const model::ServiceDeployment& rollout,
                                                 Stage stage) {
  const auto& hooks = rollout.configuration.lifecycle_hooks;
  const auto found = std::ranges::find_if(hooks, [&](const auto& hook) {
    return std::ranges::find(hook.lifecycle_stages, stage) != hook.lifecycle_stages.end();
  });
  return found == hooks.end() ? nullptr : &*found;
}

std::string hook_id(Stage stage) {
  return std::string(api::to_string(stage));
}

const api::ecs::DeploymentLifecycleHookDetail* detail_of(const model::ServiceDeployment& rollout,
                                                         Stage stage) {
  const auto found = std::ranges::find(rollout.hooks, std::optional(hook_id(stage)),
                                       &api::ecs::DeploymentLifecycleHookDetail::hook_id);
  return found == rollout.hooks.end() ? nullptr : &*found;
}

void open_hook(Plan& plan, const api::ecs::DeploymentLifecycleHook& hook, Stage stage,
               model::ServiceDeployment& rollout) {
  api::ecs::DeploymentLifecycleHookDetail detail;
  detail.hook_id = hook_id(stage);
  detail.target_type = api::ecs::DeploymentLifecycleHookTargetType::Pause;
  detail.status = HookStatus::AwaitingAction;
  if (hook.timeout_configuration && hook.timeout_configuration->timeout_in_minutes) {
    detail.expires_at =
        plan.input.now + std::chrono::minutes(*hook.timeout_configuration->timeout_in_minutes);
    detail.timeout_action = hook.timeout_configuration->action;
  }
  rollout.hooks.push_back(std::move(detail));
  rollout.paused_at = stage;
  rollout.updated_at = plan.input.now;
}

// True while the bake time runs.
bool baking(Plan& plan, const model::ServiceDeploymentArn& arn) {
  const model::ServiceDeployment* const kept = plan.rollout_as_is(arn);
  if (kept == nullptr || kept->rollback) return false;
  const int32_t minutes = kept->configuration.bake_time_in_minutes.value_or(0);
  if (minutes <= 0) return false;
  const base::Time since = kept->baking_since.value_or(plan.input.now);
  if (!kept->baking_since) {
    model::ServiceDeployment& rollout = *plan.rollout(arn);
    rollout.baking_since = since;
    rollout.updated_at = since;
  }
  const base::Time done = since + std::chrono::minutes(minutes);
  plan.wake_at(done);
  return done > plan.input.now;
}

void complete(Plan& plan) {
  model::Service& service = plan.altered();
  model::Deployment& primary = service.deployments.front();
  primary.rollout_state = RolloutState::Completed;
  primary.rollout_state_reason = base::format("ECS deployment {} completed.", primary.id);
  primary.updated_at = plan.input.now;
  service.completed_revision = primary.revision;
  const model::ServiceDeployment* const rollout = plan.rollout_as_is(primary.service_deployment);
  const bool rolled_back = rollout != nullptr && rollout->rollback.has_value();
  end_rollout(plan, primary.service_deployment,
              rolled_back ? Status::RollbackSuccessful : Status::Successful, {});
  plan.decisions.events.push_back(completed_event(service, primary.id));
}

void remove_empty(Plan& plan, const ClassifiedTasks& classified) {
  const auto& deployments = plan.service().deployments;
  const bool completed = deployments.front().rollout_state == RolloutState::Completed;
  const auto gone = [&](const model::Deployment& one) {
    return one.id != deployments.front().id && classified.group(one.id).empty() &&
           (completed || one.revision != plan.service().completed_revision);
  };
  if (std::ranges::none_of(deployments, gone)) return;
  std::vector<model::Deployment> kept;
  std::ranges::copy_if(deployments, std::back_inserter(kept), std::not_fn(gone));
  plan.altered().deployments = std::move(kept);
}

}  // namespace

void begin_deployment(Plan& plan) {
  model::Service& service = plan.altered();
  const base::Time now = plan.input.now;
  model::ServiceRevision revision{
      .arn = model::service_revision_arn(service.arn, digits(plan.random, 19)),
      .service = service.arn,
      .created_at = now,
      .source = service.source};
  model::ServiceDeployment rollout;
  rollout.arn = model::service_deployment_arn(service.arn, plan.random.hex(21));
  rollout.service = service.arn;
  rollout.created_at = now;
  rollout.updated_at = now;
  rollout.started_at = now;
  rollout.target = revision.arn;
  rollout.status = Status::InProgress;
  rollout.configuration = service.deployment_configuration;
  rollout.breaker =
      breaker_enabled(service.deployment_configuration) ? Monitor::Monitoring : Monitor::Disabled;
  rollout.threshold = breaker_threshold(service.deployment_configuration, service.desired_count);
  for (const model::Deployment& before : service.deployments) {
    rollout.sources.push_back(before.revision);
  }
  if (!service.deployments.empty()) {
    model::Deployment& before = service.deployments.front();
    end_rollout(plan, before.service_deployment, Status::Stopped,
                "A newer deployment has taken its place.");
  }
  service.deployments.insert(service.deployments.begin(),
                             deployment_of(plan, revision.arn, rollout.arn));
  service.steady = false;
  plan.decisions.revisions.push_back(std::move(revision));
  plan.decisions.rollouts.emplace(rollout.arn, std::move(rollout));
}

void end_hook(model::ServiceDeployment& rollout, Stage stage, HookStatus status) {
  for (api::ecs::DeploymentLifecycleHookDetail& detail : rollout.hooks) {
    if (detail.hook_id == hook_id(stage)) detail.status = status;
  }
  rollout.paused_at.reset();
}

void fail_primary(Plan& plan, std::string_view why, AfterFailure after) {
  fail(plan, why, base::format("ECS deployment circuit breaker: {}.", why), after);
}

void stop_primary(Plan& plan, std::string_view why, AfterFailure after) {
  fail(plan, why, base::format("ECS deployment: {}.", why), after);
}

bool held_by_hook(Plan& plan, Stage stage) {
  const model::Deployment& primary = plan.service().deployments.front();
  const model::ServiceDeploymentArn arn = primary.service_deployment;
  const model::ServiceDeployment* const kept = plan.rollout_as_is(arn);
  if (primary.rollout_state != RolloutState::InProgress || kept == nullptr || kept->rollback) {
    return false;
  }
  const api::ecs::DeploymentLifecycleHook* const hook = hook_at(*kept, stage);
  if (hook == nullptr) return false;
  if (detail_of(*kept, stage) == nullptr) open_hook(plan, *hook, stage, *plan.rollout(arn));
  const auto& detail = *detail_of(*plan.rollout_as_is(arn), stage);
  if (detail.status != HookStatus::AwaitingAction) return false;
  if (!detail.expires_at) return true;
  plan.wake_at(*detail.expires_at);
  if (*detail.expires_at > plan.input.now) return true;
  const bool goes_on = detail.timeout_action == api::ecs::DeploymentLifecycleHookAction::Continue;
  end_hook(*plan.rollout(arn), stage, HookStatus::TimedOut);
  if (goes_on) return false;
  stop_primary(plan, base::format("the hook {} has timed out", hook_id(stage)),
               AfterFailure::RollBack);
  return true;
}

void settle_deployments(Plan& plan, const ClassifiedTasks& classified, bool all_in_place) {
  if (plan.service().deployments.empty()) return;
  const model::Deployment& primary = plan.service().deployments.front();
  if (all_in_place && primary.rollout_state == RolloutState::InProgress &&
      !held_by_hook(plan, Stage::PostScaleUp)) {
    if (!baking(plan, primary.service_deployment)) complete(plan);
  }
  remove_empty(plan, classified);
}

}  // namespace reconcile
