// From the payload of one task to the agent's own Task.
#pragma once

#include "acs/payload.h"
#include "agent/core/task.h"
#include "base/random.h"
#include "base/result.h"
#include "base/time.h"

namespace agent::core {

// What this agent cannot do is refused, never left out in silence.
// Errors: "UnrecognizedTaskError"; such a payload is not acknowledged, its task is reported
// STOPPED.
base::Result<void> check_payload(const acs::Task& payload);

// A new task; the payload has passed check_payload().
Task make_task(acs::Task payload, base::Random& random, base::Time now);

// A task of which only its end is to be reported.
Task make_stopped_task(acs::Task payload, std::string reason, base::Time now);

// The parts that are in memory only, from payload and record. Errors: "TaskDependencyError" and
// "GpuAssociationError" when the task can never run; it is whole nevertheless, to be stopped.
base::Result<void> complete_task(Task& task);

// The keys of the task's roles; they are taken out of the payload, their ids stay.
std::vector<std::pair<std::string, acs::IAMRoleCredentials>> take_credentials(acs::Task& payload);

}  // namespace agent::core
