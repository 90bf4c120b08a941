// DAEMON services: exactly one task on each instance that their constraints allow.
// Source: ECS Developer Guide, "Amazon ECS services", DAEMON.
#pragma once

#include "reconcile/classify.h"
#include "reconcile/plan.h"

namespace reconcile {

// Starts and stops within the healthy minimum. A daemon's task on a DRAINING instance is the last
// one to leave it. True when every instance has its task, healthy, and no other task is left.
bool plan_daemon(Plan& plan, const ClassifiedTasks& classified);

}  // namespace reconcile
