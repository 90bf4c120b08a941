// What the last pass over each cluster's queue found of the tasks that wait on, for those who ask.
#pragma once

#include <map>

#include "model/ids.h"
#include "reconcile/queue/queue.h"

namespace control {

// In memory only: made anew by the first pass after a restart.
struct QueueNotes {
  std::map<model::ClusterName, std::map<model::TaskArn, reconcile::queue::Verdict>> clusters;

  // nullptr: no pass has looked at the task yet.
  const reconcile::queue::Verdict* find(const model::ClusterName& cluster,
                                        const model::TaskArn& task) const {
    const auto notes = clusters.find(cluster);
    if (notes == clusters.end()) return nullptr;
    const auto note = notes->second.find(task);
    return note == notes->second.end() ? nullptr : &note->second;
  }
};

}  // namespace control
