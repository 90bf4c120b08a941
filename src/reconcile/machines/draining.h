// Before a machine ends, its tasks are given time.
// Source: ECS Developer Guide, "Safely shut down Amazon ECS workloads running on EC2 instances"
// (managed instance draining): the instance is DRAINING, service tasks are replaced elsewhere,
// standalone tasks run until they end by themselves, for 48 hours at most.
#pragma once

#include "reconcile/machines/look.h"

namespace reconcile::machines {

// Whether nothing is left on a Terminating machine that is worth waiting for. `wake` becomes
// earlier where time alone will tell.
bool is_drained(const model::Machine& machine, const Look& look, const Options& options,
                base::Time now, base::Time& wake);

}  // namespace reconcile::machines
