// Which machine of a group goes first when it has one too many.
// Source: EC2 Auto Scaling User Guide, "Configure termination policies": the Availability Zone with
// the most machines first, and in it the policies in their order; Default is the oldest launch
// configuration or template, then the machine closest to its next hour. Ours before all of that:
// machines without tasks, those that have not joined yet first.
#pragma once

#include <cstddef>
#include <vector>

#include "reconcile/machines/look.h"

namespace reconcile::machines {

// Indexes of `count` machines at most. Protected machines never go, nor, where `protects_busy`
// (managed termination protection), machines with tasks.
std::vector<size_t> first_to_go(const model::AutoScalingGroup& group,
                                const std::vector<Look>& looks, bool protects_busy, size_t count,
                                base::Time now);

}  // namespace reconcile::machines
