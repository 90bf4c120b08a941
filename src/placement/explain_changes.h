// The smallest changes after which a task that finds no place would be placed.
#pragma once

#include <vector>

#include "placement/cluster.h"
#include "placement/explain.h"

namespace placement {

// An ACTIVE instance and all that speaks against it.
struct Considered {
  uint32_t index = 0;
  const model::ContainerInstance* instance = nullptr;
  Objections objections;
};

std::vector<ExplainedChange> smallest_changes(const model::ClusterState& state,
                                              const Demand& demand, const Fleet& fleet,
                                              const std::vector<Considered>& considered);

}  // namespace placement
