// What agents tell on their telemetry streams, taken into the state. Streams are lossy: everything
// here may come late, twice or not at all.
#pragma once

#include "control/step/input.h"
#include "control/step/step.h"

namespace control {

// Container health, the instance's own checks, and what was measured of its GPUs and of its tasks'
// containers. What is said of
// other instances' tasks, or of stopped ones, is ignored.
void take_telemetry(Step& step, const TelemetryReceived& received);

}  // namespace control
