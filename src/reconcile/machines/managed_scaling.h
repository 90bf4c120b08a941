// The capacity that a capacity provider wants of its group.
// Source: ECS Developer Guide, "Optimize Amazon ECS cluster auto scaling":
//   CapacityProviderReservation = needed / there * 100, kept at targetCapacity.
// needed: machines with tasks other than daemons', those that are warming up, those that waiting
// tasks would fill. there: the desired capacity. Nothing there: 100 when nothing is needed, 200
// when something is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/generated/ecs.h"
#include "reconcile/machines/estimate.h"
#include "reconcile/machines/look.h"

namespace reconcile::machines {

// Capacity goes down only after so many points in a row have asked for less.
inline constexpr int32_t points_to_scale_in = 15;

struct ScalingSituation {
  const model::AutoScalingGroup& group;
  const std::vector<Look>& looks;  // Of group.machines, in their order.
  api::ecs::ManagedScaling settings;
  Estimate waiting;
  base::Time now;
  Options options;
  bool protects_busy = false;  // Managed termination protection.
  bool is_point = true;        // A look between two points only ever asks for more.
};

struct ScalingDecision {
  int32_t desired_capacity = 0;
  int32_t points_below = 0;  // For the group to keep: `group.points_below` with this point.
  int64_t reservation_percent = 0;
  std::string reason;  // One sentence; empty when the desired capacity stays.
};

ScalingDecision scale(const ScalingSituation& input);

}  // namespace reconcile::machines
