// Tasks whose wait is over: they have waited as long as their tag berth:queue-seconds allows, or
// their gang can never be whole.
#pragma once

#include <vector>

#include "base/time.h"
#include "model/state.h"
#include "reconcile/queue/queue.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {

// Takes those units out and says why each of their tasks ends: a gang ends whole.
std::vector<Expired> take_expired(std::vector<Unit>& units, const model::ClusterState& state,
                                  base::Time now);

}  // namespace reconcile::queue
