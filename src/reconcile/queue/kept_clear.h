// Instances that are kept clear for tasks that need a whole one. While such a task runs, the
// largest instances are for its like: of other tasks only those go there that have told how long
// they run. Lengths of tasks have a long tail: without this, wherever the cluster is full each
// instance soon holds a task that runs for hours, and to drain one takes as long.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "model/state.h"
#include "reconcile/queue/timeline.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {

// The most GPUs, of several, that one task holds as all that its instance has; not a service's: its
// tasks tell nothing of those that come. 0: there is none.
size_t most_held_whole(const model::ClusterState& state, const model::ClusterName& cluster);

// Positions of at most `count` timelines to keep clear, of the instances with so many GPUs on which
// no task holds all: those with the most CPU and memory, and of equal ones those whose youngest
// task with GPUs is the oldest. What is kept clear gets no younger ones, and so the next pass
// chooses it again.
std::vector<size_t> timelines_to_keep_clear(std::vector<Timeline>& timelines, size_t gpus,
                                            size_t count, base::Time now);

// Whether the unit stays off what is kept clear. Nothing is kept from one that waits for longer.
bool stays_off_clear(const Unit& unit, size_t gpus, base::Time now, base::Milliseconds longest);

}  // namespace reconcile::queue
