// Replays a trace of arriving tasks through the placement engine: tasks only arrive and never
// leave; one that finds no place is dropped. Source of the protocol: Weng et al., "Beware of
// Fragmentation", USENIX ATC'23, and its artifact.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "placement/policy.h"
#include "placement/replay/trace.h"

namespace placement::replay {

enum class Order : uint8_t {
  Given,  // The rows of the pods file, one by one, on instances in the order of the nodes file.
  Seed,   // Shuffled, then inflated to 130 % of the cluster's GPUs by drawing from the file;
          // instances in a random order.
};

struct Options {
  Policy policy = Policy::Berth;  // Fgd gets the whole file's mix beforehand, Berth sees arrivals.
  Order order = Order::Seed;
  uint64_t seed = 42;
  // Nanoseconds of a clock that never goes back, for the speed figures; without one they are 0.
  std::function<int64_t()> now_ns;
  // Told now and then how many of all arrivals have been decided; may be empty.
  std::function<void(size_t done, size_t all)> on_progress;
};

inline constexpr int64_t most_arrivals = 10'000'000;

// The mean over all arrivals at which this much GPU, in percent of the cluster's, has arrived.
struct Point {
  int32_t arrived_percent = 0;
  double allocation_percent = 0;     // Of all GPUs.
  double fragmentation_percent = 0;  // Idle GPU of no use to the typical task, of all GPUs.
};

struct Result {
  bool generated = false;  // The trace is made up (generator.h); for the reports, run() leaves it.
  Policy policy = Policy::Berth;
  Order order = Order::Seed;
  uint64_t seed = 0;
  int64_t instances = 0;
  int64_t gpus = 0;
  int64_t tasks = 0;
  int64_t placed = 0;
  std::map<std::string, int64_t> unplaced;  // By reason, "RESOURCE:GPU".
  std::vector<Point> points;                // Ascending.
  double decisions_per_second = 0;          // Of the engine: choosing, and taking note of it.
  double p50_us = 0;
  double p99_us = 0;
};

// Errors: InvalidParameterException for a trace without GPUs or without tasks, and for tasks so
// small that more than most_arrivals would be needed.
base::Result<Result> run(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods,
                         const Options& options);

// The arrivals of an order: positions in `pods`.
std::vector<size_t> arrivals(const std::vector<TraceNode>& nodes, const std::vector<TracePod>& pods,
                             Order order, base::Random& random);

// How it stood at this load: the last point that is not beyond it. nullptr when the arrivals did
// not come to it. Those of Order::Seed come to 130 % as nearly as the size of a task allows.
const Point* point_at(const Result& result, int32_t arrived_percent);

}  // namespace placement::replay
