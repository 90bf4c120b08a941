// How a capacity provider strategy deals tasks out to its capacity providers: the base first, then
// in proportion to the weights. Pure.
// Source: ECS API reference, CapacityProviderStrategyItem.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "api/generated/ecs.h"

namespace control {

using Strategy = api::List<api::ecs::CapacityProviderStrategyItem>;

// Tasks by the name of their capacity provider.
using ProviderCounts = std::map<std::string, int64_t, std::less<>>;

// The capacity provider of the next task, where those before it have gone as `counts` says. Of n
// tasks beyond the base that all went this way, each provider has its share by weight, less or more
// by less than one. A strategy of one item has all of them, whatever its weight.
// The strategy must not be empty, and of several items one must have a weight above 0.
std::string next_provider(const Strategy& strategy, const ProviderCounts& counts);

}  // namespace control
