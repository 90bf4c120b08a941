// Launches that fail are tried again at growing intervals.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "model/capacity.h"

namespace reconcile::machines {

// How long the next try waits after so many failed ones in a row: 5 s, doubling up to 15 minutes.
base::Milliseconds launch_backoff(int32_t failures);

// Counts a machine that could not be launched, or that never joined. Those that were asked for
// together with one that has failed already count as the same try.
void note_launch_failed(model::AutoScalingGroup& group, base::Time asked_at, base::Time now);
// A machine has joined. False: there was nothing to forget.
bool note_launch_succeeded(model::AutoScalingGroup& group);

}  // namespace reconcile::machines
