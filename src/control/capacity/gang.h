// Gangs: tasks that start together or not at all, and what each of them learns of the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "control/capacity/strategy.h"
#include "control/step/step.h"
#include "control/tasks/task_plan.h"
#include "placement/place.h"

namespace control {

// Task::gang_environment: from the call on
inline constexpr std::string_view gang_variable = "BERTH_GANG";  // Name, or an id of the call.
inline constexpr std::string_view gang_size_variable = "BERTH_GANG_SIZE";
// and, once placed, by the order in which the members came, from 0,
inline constexpr std::string_view gang_rank_variable = "BERTH_GANG_RANK";
// with the address of the first member's host (model::attribute_host_address), where it is known:
inline constexpr std::string_view gang_address_variable = "BERTH_GANG_ADDRESS";
// What the launchers of multi-node training read: MASTER_ADDR, MASTER_PORT, NODE_RANK, NNODES, and,
// counting tasks, RANK and WORLD_SIZE; a launcher that starts several processes in a task sets the
// last two itself. A container's own definition of any of these stands.
inline constexpr std::string_view master_port = "29500";  // PyTorch's default.

// Marks the planned task as a member, where the tags of the call say so.
// Errors: InvalidParameterException where the tags are wrong, a named gang has no queue to gather
// in, the strategy has another capacity provider than the queue, or the members could not meet:
// nothing of the task can be reached at its machine's address, and it sets no MASTER_ADDR itself.
base::Result<void> prepare_gang(Step& step, const Strategy& strategy, int32_t count,
                                TaskPlan& plan);

// The name of the task's gang; empty: it is of none.
std::string gang_of(const model::Task& task);
// How many members it has when it is complete; 0: the task is of none.
int32_t gang_size_of(const model::Task& task);

// The whole environment of a member of that rank; `first`: where the first member is.
std::map<std::string, std::string> gang_environment(const Step& step, const model::Task& member,
                                                    size_t rank, const model::InstanceArn& first);

// Without a queue: starts all `count` members at once, or none of them.
std::expected<std::vector<model::TaskArn>, std::vector<placement::Refusal>> start_gang(
    Step& step, const TaskPlan& plan, int32_t count);

}  // namespace control
