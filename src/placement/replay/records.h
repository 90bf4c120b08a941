// A trace's instances and tasks as the records and requests that the engine works on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/state.h"
#include "placement/place.h"
#include "placement/replay/trace.h"

namespace placement::replay {

inline const model::ClusterName cluster_name("replay");
inline constexpr int64_t unknown_gpu_memory_mib = 16384;  // Of each GPU: the trace does not tell.

// `position`: its place in the order of ARNs. CPU is in the trace's own unit, a thousandth of a
// core.
model::ContainerInstance instance_of(const TraceNode& node, size_t position);
Request request_of(const TracePod& pod);
// What its container asks of GPUs; none: nothing.
std::vector<model::GpuRequest> gpu_requests_of(const TracePod& pod);

}  // namespace placement::replay
