// One pass over the queue of a cluster's own machines: the capacity provider model::berth_queue.
#pragma once

#include "base/time.h"
#include "control/step/step.h"
#include "model/ids.h"

namespace control {

// Starts waiting tasks for which there is room, ends those whose time is over, and keeps why the
// others wait. Returns when to look again at the latest; base::Time::max(): when something changes.
base::Time run_queue_pass(Step& step, const model::ClusterName& cluster);

}  // namespace control
