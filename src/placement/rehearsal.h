// A copy of one cluster in which tasks take their places without anything becoming of it.
#pragma once

#include <vector>

#include "model/state.h"
#include "placement/place.h"

namespace placement {

// The engine follows the copy, so that what it has learned counts, and is brought back to the real
// state at the end; meanwhile nobody else may use it. Outlived by the engine and the real state.
// Cost: O(instances and tasks of the cluster).
class Rehearsal {
 public:
  Rehearsal(Engine& engine, const model::ClusterState& real, const model::ClusterName& cluster);
  ~Rehearsal();
  Rehearsal(const Rehearsal&) = delete;
  Rehearsal& operator=(const Rehearsal&) = delete;

  const model::ClusterState& state() const { return state_; }
  // `task`: new, or one that waits in this cluster.
  void place(model::Task task, const Placement& placement);

 private:
  Engine& engine_;
  const model::ClusterState& real_;
  model::ClusterState state_;
  std::vector<model::InstanceArn> touched_;
};

}  // namespace placement
