// Rolling on full GPU hosts. With a healthy minimum of 100 % nothing may stop before its
// replacement runs, and the replacement cannot start before a GPU comes free: a deployment that
// would hang for ever and silently. Here it says so, and, where the operator has asked for it by a
// tag, replaces one task after the other.
#pragma once

#include <string_view>

#include "reconcile/rolling.h"

namespace reconcile {

// On the service or on its cluster.
inline constexpr std::string_view gpu_rolling_tag = "berth:gpu-rolling";
inline constexpr std::string_view gpu_rolling_replace = "replace";

bool replaces_gpu_tasks(const model::ClusterState& state, const model::Service& service);

// After a pass in which a task found no free GPU and no other rule made room: says what is in the
// way, or adds to `stops` the displaced tasks to be replaced now. Never more than the tasks whose
// GPUs one new task needs are missing below the healthy minimum at a time. True when it has done
// either.
bool roll_on_full_gpus(Plan& plan, const Pool& pool, std::vector<Member>& stops);

}  // namespace reconcile
