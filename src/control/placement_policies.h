// Has the placement engine rank each cluster's instances as the cluster's tags say.
#pragma once

#include "control/step/observer.h"
#include "model/state.h"
#include "placement/place.h"

namespace control {

class PlacementPolicies : public Observer {
 public:
  PlacementPolicies(const model::ClusterState& state, placement::Engine& engine);
  void observe(Step& step, const model::Change& change) override;
};

}  // namespace control
