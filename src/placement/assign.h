// Which GPUs and cores of the chosen instance a task gets.
#pragma once

#include <cstddef>
#include <optional>

#include "model/state.h"
#include "placement/cores.h"
#include "placement/demand.h"
#include "placement/offer.h"

namespace placement {

// The card on which the demand's shares leave the least memory free; already shared cards before
// idle ones, then the lowest index. nullopt when no card can take them.
std::optional<size_t> tightest_card(const Offer& offer, const Demand& demand);

// The instance that a task goes on, and what is kept about it.
struct Site {
  const model::ContainerInstance& instance;
  const Offer& offer;   // The instance's own.
  PinnedCores& pinned;  // As offer; brought up to date where it is needed.
};

// All that the task holds on the instance: the offer fits the demand. share_card is the card for
// its shares, when it has any.
model::HeldResources assign(const model::ClusterState& state, const Site& site,
                            const model::ResourceRequest& request, const Demand& demand,
                            std::optional<size_t> share_card);

}  // namespace placement
