// A made-up trace in the shape of published GPU clusters: a few hardware generations, many tasks
// that share a GPU, most that want one, a few that want a whole instance. No figure is anyone's.
#pragma once

#include <cstdint>
#include <vector>

#include "placement/replay/trace.h"

namespace placement::replay {

struct Shape {
  int32_t instances = 1200;
  int32_t tasks = 8000;
  // Percent of the tasks; the rest wants one whole GPU.
  int32_t cpu_only_percent = 13;
  int32_t sharing_percent = 38;
  int32_t several_gpus_percent = 1;
  // Percent of the tasks with GPUs that run on some models only.
  int32_t constrained_percent = 0;
  uint64_t seed = 1;
};

struct Trace {
  std::vector<TraceNode> nodes;
  std::vector<TracePod> pods;
};

// When each of so many tasks arrives and how long it runs: gaps without memory, lengths of which a
// few are hundreds of times the usual one, as in the records of real clusters. The same arguments,
// the same times.
std::vector<TraceTime> generate_times(size_t tasks, uint64_t seed);

// The same shape, the same trace. Instances in proportion: of 20, nine have 8 GPUs, seven have 2,
// the others 1 to 4.
Trace generate(const Shape& shape);

}  // namespace placement::replay
