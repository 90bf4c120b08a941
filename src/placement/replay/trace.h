// The format of Alibaba's cluster-trace-gpu-v2023: the instances of a cluster and the tasks that
// arrive there, as CSV.
//   nodes: sn,cpu_milli,memory_mib,gpu,model
//   pods:  name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,...; without gpu_spec, which some
//          files of the family lack, a task takes any model
//   times: creation_time,deletion_time,scheduled_time, further columns of the pods, in seconds
// Source: github.com/alibaba/clusterdata, cluster-trace-gpu-v2023.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace placement::replay {

struct TraceNode {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t gpus = 0;
  std::string model;
  friend bool operator==(const TraceNode&, const TraceNode&) = default;
};

struct TracePod {
  std::string name;
  int64_t cpu_milli = 0;
  int64_t memory_mib = 0;
  int32_t gpus = 0;
  int32_t gpu_milli =
      0;  // Of each GPU, 1000 = whole; below that only with one GPU. 0 without GPUs.
  std::vector<std::string> models;  // Any of these ("A|B" in the file); empty: any at all.
  friend bool operator==(const TracePod&, const TracePod&) = default;
};

// When a task arrived, and for how long it ran.
struct TraceTime {
  int64_t arrived_s = 0;
  int64_t ran_s = 0;
  friend bool operator==(const TraceTime&, const TraceTime&) = default;
};

// Columns are found by their names in the first line. Errors: InvalidParameterException naming the
// line and the column.
base::Result<std::vector<TraceNode>> parse_nodes(std::string_view csv);
base::Result<std::vector<TracePod>> parse_pods(std::string_view csv);
// Of the pods, in their order. One that was never scheduled ran from its creation.
base::Result<std::vector<TraceTime>> parse_times(std::string_view csv);

std::string print_nodes(const std::vector<TraceNode>& nodes);
std::string print_pods(const std::vector<TracePod>& pods);

}  // namespace placement::replay
