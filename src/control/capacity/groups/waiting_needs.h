// What the tasks that wait for a capacity provider ask of its group.
#pragma once

#include <string>
#include <vector>

#include "control/step/step.h"
#include "model/state.h"
#include "reconcile/machines/estimate.h"
#include "reconcile/machines/look.h"

namespace control {

// `looks` are of group.machines, in their order. `instance_type`: of the next machine.
// Cost: O(waiting tasks * machines) at worst; little when none waits.
reconcile::machines::Estimate waiting_for(const Step& step, const model::CapacityProvider& provider,
                                          const model::AutoScalingGroup& group,
                                          const std::vector<reconcile::machines::Look>& looks,
                                          const std::string& instance_type);

}  // namespace control
