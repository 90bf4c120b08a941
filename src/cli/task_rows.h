// Tasks as `berth tasks` shows them.
#pragma once

#include <vector>

#include "api/generated/ecs.h"
#include "base/time.h"
#include "cli/instances.h"
#include "cli/table.h"

namespace cli {

using Tasks = api::List<api::ecs::Task>;

// Those that have stopped first, then those that are somewhere, each the oldest first; those that
// wait at the end, in the order in which they will go. Pure.
void sort_tasks(Tasks& tasks);

// A head line, and one for each task. Pure.
std::vector<Line> task_lines(const Tasks& tasks, const Instances& instances, base::Time now);

}  // namespace cli
