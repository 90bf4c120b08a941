// A service's tasks: planned from its source, placed by its strategies.
#pragma once

#include <optional>
#include <vector>

#include "base/result.h"
#include "control/services/effort.h"
#include "control/step/step.h"
#include "control/tasks/task_plan.h"
#include "model/service.h"
#include "reconcile/reconcile.h"

namespace control {

// What a task of this service made from this source asks, and what it will be.
// Errors: ClientException and InvalidParameterException, naming what is wrong.
base::Result<TaskPlan> plan_service_task(const Step& step, const model::Service& service,
                                         const model::TaskSource& source);

// Whether what a call has just asked of such tasks can stand. Errors: as plan_service_task().
base::Result<void> check_service_task(const Step& step, const model::Service& service,
                                      const model::TaskSource& source);

struct StartedTasks {
  std::vector<model::TaskArn> started;
  std::optional<reconcile::Unplaced> unplaced;
  bool some_wait = false;
  bool cut_short = false;  // No effort was left for the others; one at least was started.
};
// Places them one by one, and stops at the first that finds no place. With a capacity provider
// strategy such a task is started nevertheless, and waits in PROVISIONING. What it costs is taken
// from `effort_left`.
StartedTasks start_service_tasks(Step& step, const model::ServiceArn& service,
                                 const reconcile::Start& start, Effort& effort_left);

// The ACTIVE instances with a connected agent that a DAEMON's constraints and its definition's
// requirements allow, in the order of their ARNs. Errors: as plan_service_task().
base::Result<std::vector<model::InstanceArn>> instances_for_daemon(Step& step,
                                                                   const model::Service& service);

}  // namespace control
