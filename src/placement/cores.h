// The cores near a task's GPUs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/state.h"

namespace placement {

// "0-3,8" to {0, 1, 2, 3, 8}: sorted, without duplicates. Empty for a text that is no such list.
std::vector<int32_t> parse_cpu_list(std::string_view text);
// The inverse: {0, 1, 2, 3, 8} to "0-3,8".
std::string format_cpu_list(const std::vector<int32_t>& cores);

// As many cores as the task's CPU units make (1024 = one core, rounded up), near its GPUs, each in
// turn, and in no other task's cpuset: so that no GPU task starves the one that feeds another GPU.
// Tasks without GPUs are not pinned and may use any core. Empty: not pinned, because the task asks
// for no CPU units or has no GPU, nothing is known about the cores, the instance is emulated, or
// too few of the near cores are left.
std::string choose_cores(const model::ClusterState& state, const model::ContainerInstance& instance,
                         const model::HeldResources& held);

}  // namespace placement
