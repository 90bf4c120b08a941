// In which order waiting tasks are looked at.
#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "model/state.h"
#include "reconcile/queue/unit.h"

namespace reconcile::queue {

// Positions in `units` of those that are complete, in order: the higher priority; then the one that
// has waited longest, if longer than `patience`; then the share group that holds least; then age.
// A group holds what its tasks hold now, whoever they wait or waited for, and what those before in
// this order ask: groups take turns. What counts is GPU, and where that is equal the larger of the
// parts of the cluster's CPU and memory. Nothing of the past counts.
// Cost: O(n log n), and the cluster's tasks where more than one group waits.
std::vector<size_t> order_of(const std::vector<Unit>& units, const model::ClusterState& state,
                             const model::ClusterName& cluster, base::Time now,
                             base::Milliseconds patience);

// What a group holds of the cluster, in millionths; compared in this order.
struct Holding {
  int64_t gpu = 0;
  int64_t cpu = 0;
  int64_t memory = 0;
};

}  // namespace reconcile::queue
