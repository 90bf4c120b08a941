// Gives a deployment up whose tasks do not start, or do not become healthy.
// Source: ECS Developer Guide, "How the Amazon ECS deployment circuit breaker detects failures";
// ECS API reference, DeploymentCircuitBreaker and ThresholdConfiguration.
#pragma once

#include "reconcile/classify.h"
#include "reconcile/plan.h"

namespace reconcile {

// The number of failures that trips it. COUNT: the value itself; BOUNDED_PERCENT, the default with
// 50: that part of the desired count rounded up, 3 at least and 200 at most; UNBOUNDED_PERCENT: the
// same without bounds, 1 at least.
int32_t breaker_threshold(const api::ecs::DeploymentConfiguration& configuration,
                          int32_t desired_count);
bool breaker_enabled(const api::ecs::DeploymentConfiguration& configuration);

// Takes in what the PRIMARY deployment's tasks show: one more healthy than before ends a row of
// failures. Trips where the threshold is reached: the deployment FAILED, with rollback back to the
// last one that was completed.
void watch_primary(Plan& plan, const ClassifiedTasks& classified);

// A task of the PRIMARY deployment is stopped because its health check fails.
void note_unhealthy(Plan& plan);

}  // namespace reconcile
