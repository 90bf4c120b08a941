// Services whose deployments a client makes itself, as task sets.
// Source: ECS API reference, CreateTaskSet; TaskSet, computedDesiredCount, stabilityStatus.
#pragma once

#include "reconcile/classify.h"
#include "reconcile/plan.h"

namespace reconcile {

// "calculated by multiplying the service's desiredCount by the task set's scale percentage. The
// result is always rounded up."
int32_t computed_desired_count(const model::Service& service, const model::TaskSet& set);

// True when each task set has what it wants, and nothing else is left.
bool plan_task_sets(Plan& plan, const ClassifiedTasks& classified);

}  // namespace reconcile
