// Which GPUs and cores of the chosen instance a task gets.
#pragma once

#include <cstddef>
#include <optional>

#include "model/state.h"
#include "placement/demand.h"
#include "placement/offer.h"

namespace placement {

// The card on which the demand's shares leave the least memory free; already shared cards before
// idle ones, then the lowest index. nullopt when no card can take them.
std::optional<size_t> tightest_card(const Offer& offer, const Demand& demand);

// All that the task holds on the instance: the offer must be the instance's own and fit the demand.
// share_card is the card for its shares, when it has any.
model::HeldResources assign(const model::ClusterState& state,
                            const model::ContainerInstance& instance, const Offer& offer,
                            const model::ResourceRequest& request, const Demand& demand,
                            std::optional<size_t> share_card);

}  // namespace placement
