// Tasks that were accepted without an instance: they wait in PROVISIONING for a capacity provider
// to have room for them. Source: ECS Developer Guide, "Amazon ECS clusters", PROVISIONING tasks.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "control/step/step.h"
#include "control/tasks/task_plan.h"
#include "model/state.h"
#include "placement/place.h"

namespace control {

// Makes the planned task durable without an instance: PROVISIONING, until that capacity provider
// has room for it. Returns the new task.
const model::Task& queue_planned_task(Step& step, const TaskPlan& plan,
                                      std::string capacity_provider);

// What a waiting task asks of an instance, again from its record: its definition, its overrides,
// the constraints and strategies of the call, its capacity provider. `task` of the plan is the
// waiting task as it stands.
// Errors: ClientException and InvalidParameterException, as plan_task(); the definition is gone.
base::Result<TaskPlan> plan_waiting_task(const Step& step, const model::Task& task);

// The waiting task gets that place, and its agent the payload. `task` is the record, or a copy with
// more in it than before (gang_environment). Returns the task as it is from now on.
const model::Task& place_waiting_task(Step& step, const model::Task& task,
                                      placement::Placement placement);

// STOPPED at once: no agent has heard of it. `stop_code`: "TaskFailedToStart", "UserInitiated"...
void end_waiting_task(Step& step, const model::TaskArn& arn, std::string stop_code,
                      std::string reason);

// Keeps, in memory, why the task was not placed when it was last tried.
void note_wait(Step& step, const model::Task& task, const std::string& reason,
               const std::string& detail);

// Whether the task waits for a capacity provider over an Auto Scaling group, not in the queue.
bool waits_for_group(const model::Task& task);
// How many tasks of the cluster do. Cost: O(waiting tasks of the cluster).
size_t count_waiting_for_groups(const model::ClusterState& state,
                                const model::ClusterName& cluster);

}  // namespace control
