// Events of a service whose tasks wait long for their images: that they do, how far they are, and
// when they have them. Quick pulls are not told of, and no service is told more often than once a
// minute; DescribeTasks has each task's own pullStartedAt, pullStoppedAt and berthPullPercent.
#pragma once

#include "control/step/step.h"
#include "model/state.h"

namespace control {

// After a report of the task's agent was taken. `pull_ended`: the report was the first to have
// pullStoppedAt. Does nothing for a task of no service.
void tell_of_pull(Step& step, const model::Task& task, bool pull_ended);

}  // namespace control
