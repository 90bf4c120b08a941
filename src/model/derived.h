// What follows from the records: who holds what, and the indexes. Used by apply() and after a load.
#pragma once

#include "model/state.h"

namespace model {

// The task takes what it holds on its instance. False: some of it is not there, or is given
// already; the state is of no use then.
[[nodiscard]] bool hold(ClusterState& state, const Task& task);
// The task lets go of all that it holds.
void let_go(ClusterState& state, const Task& task);
// The task, which has no instance, is in the indexes of tasks that wait; and no longer.
void wait(ClusterState& state, const Task& task);
void wait_no_more(ClusterState& state, const Task& task);
// Counts the task in (+1) or out (-1) of its instance's running or pending tasks.
void count_status(ClusterState& state, const Task& task, int32_t by);
// The same of an instance alone, or of a copy of it to try on. False: some of it was not free.
bool take(ContainerInstance& instance, const TaskArn& task, const HeldResources& held);
void give_back(ContainerInstance& instance, const TaskArn& task, const HeldResources& held);
// The GPU's state as its holders make it; a quarantine stays.
void refresh_gpu(const ClusterState& state, GpuSlot& gpu);

}  // namespace model
