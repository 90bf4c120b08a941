// Availability Zone rebalancing: a steady service whose tasks are unevenly spread over the zones
// gets one more task in the emptiest, and then loses one in the fullest.
// Source: ECS Developer Guide, "Balancing an Amazon ECS service across Availability Zones".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "reconcile/rolling.h"

namespace reconcile {

inline constexpr std::string_view zone_attribute = "ecs.availability-zone";

// Whether a service of this configuration can be rebalanced: REPLICA, room above 100 %, and spread
// over zones by its first strategy or by default.
bool can_rebalance(const model::Service& service);

// The zones of the cluster's ACTIVE instances with a connected agent, each once, in order.
// Cost: O(instances).
std::vector<std::string> zones_of(const model::ClusterState& state,
                                  const model::ClusterName& cluster);

// The zone that should get one more task; nullopt where two zones differ by less than two tasks.
// Zones that are not in input.zones do not count. Cost: O(tasks).
std::optional<std::string> zone_to_fill(const Input& input, const Pool& pool);

}  // namespace reconcile
