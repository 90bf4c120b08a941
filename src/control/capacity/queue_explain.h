// What the queue tells of a task that waits in it: DescribeTasks and `berth explain TASK`.
#pragma once

#include <string>

#include "api/generated/ecs.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

bool waits_in_queue(const model::Task& task);

// As of the last pass over the cluster's queue. `task` waits: in the queue, or for a capacity
// provider over an Auto Scaling group, where it has no position.
api::ecs::BerthQueue describe_queue(const Step& step, const model::Task& task);

// The same as people read it; lines end with '\n'.
std::string print_queue_text(const Step& step, const model::Task& task);

}  // namespace control
