// Other shapes of load made from one trace, as the paper's own variants of it are: more tasks that
// share a GPU, that want several, that run on some models only, or that want none.
// Source: Weng et al., "Beware of Fragmentation", USENIX ATC'23, section 6.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "placement/replay/trace.h"

namespace placement::replay {

inline constexpr int32_t as_in_trace = -1;

struct Load {
  std::string_view name;
  int32_t cpu_only_percent = as_in_trace;     // Of all tasks.
  int32_t sharing_percent = as_in_trace;      // Of the tasks with GPUs: part of one GPU.
  int32_t several_percent = as_in_trace;      // Of the tasks with GPUs: more than one.
  int32_t constrained_percent = as_in_trace;  // Of the tasks with GPUs: some models only.
};

// The trace as it is, first, and the shapes by which packing is judged.
const std::vector<Load>& loads();

// As many tasks as in `pods`, drawn from them with replacement such that each class of tasks makes
// up what the load says; a class that the trace has none of stays empty. Models are drawn in
// proportion to their GPUs in `nodes`, among those whose instances could run the task. The same
// arguments, the same tasks. A load that changes nothing gives the trace itself.
std::vector<TracePod> with_load(const std::vector<TraceNode>& nodes,
                                const std::vector<TracePod>& pods, const Load& load, uint64_t seed);

}  // namespace placement::replay
