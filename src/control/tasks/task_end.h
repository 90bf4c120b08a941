// How a task's record changes when it ends.
#pragma once

#include <set>
#include <string>

#include "control/step/step.h"
#include "model/change.h"
#include "model/state.h"

namespace control {

// A report that leaves the task as it is.
model::TaskReported unchanged(const model::Task& task);
void stop_containers(model::TaskReported& change);
// Each once.
std::set<std::string> gpus_held_by(const model::Task& task);

// The task's machine is gone for good: the task is STOPPED without an agent's word, and its GPUs
// are quarantined until that agent's report proves them empty, or an operator clears them.
void give_up_task(Step& step, const model::TaskArn& arn, std::string reason);

}  // namespace control
