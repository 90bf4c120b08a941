// The life of a deployment: begun, completed, failed, rolled back; and its record, the service
// deployment. Source: ECS API reference, Deployment and ServiceDeployment.
#pragma once

#include <string>
#include <string_view>

#include "reconcile/classify.h"
#include "reconcile/plan.h"

namespace reconcile {

// Makes service.source a new revision and its deployment the PRIMARY one. The one before, where it
// was still on its way, is STOPPED.
void begin_deployment(Plan& plan);

enum class AfterFailure : uint8_t { Stay, RollBack };
// The PRIMARY deployment is FAILED: nothing more is started for it. RollBack: the last completed
// revision becomes PRIMARY again, where there is one.
void fail_primary(Plan& plan, std::string_view why, AfterFailure after);
// The same by an operator's word.
void stop_primary(Plan& plan, std::string_view why, AfterFailure after);

// Whether a PAUSE hook of this stage holds the rollout: it does from the first call on until it is
// continued or its time is up.
bool held_by_hook(Plan& plan, api::ecs::DeploymentLifecycleHookStage stage);

// What has become of the hook that holds it: it holds no more.
void end_hook(model::ServiceDeployment& rollout, api::ecs::DeploymentLifecycleHookStage stage,
              api::ecs::DeploymentLifecycleHookStatus status);

// Completes the PRIMARY deployment where all its tasks are healthy and nobody else's are left, its
// hooks let it go and its bake time is over. Removes deployments that have no tasks left.
void settle_deployments(Plan& plan, const ClassifiedTasks& classified, bool all_in_place);

}  // namespace reconcile
