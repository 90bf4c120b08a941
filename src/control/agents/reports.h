// What agents report of tasks, taken in so that repeats, gaps and wrong orders do no harm.
#pragma once

#include <cstddef>
#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

inline constexpr size_t most_reason = 1024;  // Bytes that are kept of what an agent gives as one.

// Merges a task's report into the state. Never back from STOPPED; a repeated RUNNING after a stop
// began changes containers only; a report about a forgotten task is acknowledged, so that its
// agent can forget it too. STOPPED of a task that was given up may prove its GPUs empty. Errors:
// InvalidParameterException, on which an agent drops the report.
base::Result<void> take_task_report(Step& step, const model::ClusterName& cluster,
                                    const api::ecs::SubmitTaskStateChangeRequest& report);

// Merges the report of one container.
base::Result<void> take_container_report(Step& step, const model::ClusterName& cluster,
                                         const api::ecs::SubmitContainerStateChangeRequest& report);

}  // namespace control
