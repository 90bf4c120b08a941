// The cores near a task's GPUs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "model/state.h"

namespace placement {

// Numbers of cores, one bit each.
class CoreSet {
 public:
  CoreSet() = default;
  CoreSet(std::initializer_list<int32_t> cores);

  // All from `first` to `last`; at least 0.
  void add(int32_t first, int32_t last);
  void add(const CoreSet& other);
  void remove(const CoreSet& other);
  // The lowest that is at least `from`; -1: none.
  int32_t next(int32_t from) const;
  bool empty() const { return next(0) < 0; }
  void clear() { words_.clear(); }
  friend bool operator==(const CoreSet& left, const CoreSet& right);

 private:
  std::vector<uint64_t> words_;
};

// "0-3,8" to {0, 1, 2, 3, 8}. Empty for a text that is no such list.
CoreSet parse_cpu_list(std::string_view text);
// The inverse: {0, 1, 2, 3, 8} to "0-3,8".
std::string format_cpu_list(const CoreSet& cores);

// The cores that the tasks of one instance are pinned to. A task stays pinned to the same ones, so
// that each is read once.
class PinnedCores {
 public:
  void sync(const model::ClusterState& state, const model::ContainerInstance& instance);
  // As of the last sync().
  const CoreSet& all() const { return all_; }

 private:
  struct Pin {
    model::TaskArn task;
    CoreSet cores;  // Empty for a task that is not pinned.
  };
  std::vector<Pin> pins_;  // In the order of the ARNs.
  CoreSet all_;
};

// As many cores as the task's CPU units make (1024 = one core, rounded up), near its GPUs, each in
// turn, and in no other task's cpuset: so that no GPU task starves the one that feeds another GPU.
// Tasks without GPUs are not pinned and may use any core. Empty: not pinned, because the task asks
// for no CPU units or has no GPU, nothing is known about the cores, the instance is emulated, or
// too few of the near cores are left. `pinned` is the instance's, and is brought up to date.
std::string choose_cores(const model::ClusterState& state, const model::ContainerInstance& instance,
                         const model::HeldResources& held, PinnedCores& pinned);

}  // namespace placement
