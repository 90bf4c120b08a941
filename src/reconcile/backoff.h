// Tasks that end before they have settled are started again at growing intervals.
// Source: ECS Developer Guide, "Amazon ECS service throttle logic".
#pragma once

#include "reconcile/reconcile.h"

namespace reconcile {

// Ended by itself before it had settled: neither the service nor a person stopped it, and it has
// been on an instance.
bool failed_to_start(const model::Task& stopped, base::Milliseconds settle);

// How long the next start waits after so many failures in a row of a service of that size.
base::Milliseconds backoff(int32_t failures_in_row, int32_t desired_count);

// Counts a task of the service that has stopped, where it failed to start. False: nothing changed.
bool note_stopped(model::Service& service, const model::Task& stopped, const Options& options,
                  base::Time now);

}  // namespace reconcile
