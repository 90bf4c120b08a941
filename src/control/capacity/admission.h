// A task that comes with a capacity provider: it is placed at once where there is room for it, and
// accepted to wait where there is none.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "control/capacity/strategy.h"
#include "control/step/step.h"
#include "control/tasks/task_plan.h"
#include "model/state.h"

namespace control {

// "Tasks in the PROVISIONING state per cluster"; those in the queue do not count.
// Source: ECS service quotas.
inline constexpr size_t most_waiting_for_groups = 500;

// How many more there may be in the cluster. Cost: O(waiting tasks of the cluster).
size_t provisioning_room(const model::ClusterState& state, const model::ClusterName& cluster);
// What whoever wants more is told.
std::string quota_sentence(size_t waiting);

// Whether `count` more tasks of the strategy may have to wait in PROVISIONING.
// Errors: ClientException with the figures.
base::Result<void> check_provisioning_quota(const Step& step, const model::ClusterName& cluster,
                                            const Strategy& strategy, size_t count);

// The plan's task with that capacity provider: PENDING on an instance of its, or PROVISIONING. In
// the queue (model::berth_queue) nobody passes those who wait already, and members of a gang always
// wait for each other; the next pass sees to them.
const model::Task& admit_task(Step& step, TaskPlan& plan, const std::string& capacity_provider);

}  // namespace control
