// The typical workload of a cluster: a histogram of what tasks have asked for, recent ones weighing
// more. What fits it badly is a fragment.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <vector>

#include "placement/demand.h"

namespace placement::pack {

// One shape of request, as far as packing looks at it.
struct Kind {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  int32_t whole_gpus = 0;
  bool all_gpus = false;
  Share share = {};   // The sum of the task's shares of its one GPU.
  uint32_t rule = 0;  // Which instances are eligible: the caller's number; 0 = all.
  friend auto operator<=>(const Kind&, const Kind&) = default;

  bool wants_gpu() const { return whole_gpus > 0 || all_gpus || share != Share{}; }
};

Kind kind_of(const Demand& demand, uint32_t rule);

struct Weighted {
  Kind kind;
  double weight = 0;  // All weights of a list sum up to 1.
};

class Mix {
 public:
  // half_life: after so many more tasks, one counts half. 0: never.
  explicit Mix(double half_life);

  void observe(const Kind& kind);
  uint64_t arrivals() const { return arrivals_; }
  // How many tasks the histogram weighs as much as: arrivals(), less what has faded.
  double weight() const { return total_ / unit_; }

  // Every kind, in order.
  std::vector<Weighted> all() const;
  // The fewest kinds that cover this part of the tasks, or of those with GPUs; memory is left out
  // (0 in each), as in the paper, which looks at all tasks. The heaviest first; of equals the
  // larger first. Empty when there was no such task. Source: Weng et al., "Beware of
  // Fragmentation", USENIX ATC'23, section 3, typical workloads.
  enum class Tasks : uint8_t { All, WithGpus };
  std::vector<Weighted> typical(double coverage, Tasks tasks = Tasks::All) const;

 private:
  void forget_rare();

  double growth_;    // Of unit_, with each task.
  double unit_ = 1;  // What the next task weighs: it grows, so that older ones need not be touched.
  double total_ = 0;
  uint64_t arrivals_ = 0;
  std::map<Kind, double> weights_;
};

// Half the sum of the differences: 0 = the same, 1 = nothing in common.
double distance(const std::vector<Weighted>& left, const std::vector<Weighted>& right);

}  // namespace placement::pack
