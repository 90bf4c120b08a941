// Which GPUs of one instance belong together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "model/state.h"

namespace placement {

// How well each pair of an instance's GPUs is connected: NVLink lanes weigh most, then the same
// PCIe switch, then the same NUMA node. Symmetric; the diagonal is 0.
class Connectivity {
 public:
  explicit Connectivity(const std::vector<model::GpuSlot>& gpus);

  int64_t between(size_t left, size_t right) const { return weights_[left * size_ + right]; }
  // No pair differs from any other: every choice is as good.
  bool uniform() const { return uniform_; }
  size_t size() const { return size_; }

 private:
  size_t size_ = 0;
  bool uniform_ = true;
  std::vector<int64_t> weights_;
};

// `count` of the `free` GPUs (indices, ascending): those with the best connections among each
// other; then those whose loss leaves the rest best connected, so that a single GPU is taken where
// it breaks least; then the lowest indices. Sorted. count <= free.size().
// Cost: all choices up to 20,000 of them (8 of 16 GPUs are 12,870); beyond that a greedy choice.
std::vector<size_t> best_connected(const Connectivity& connectivity, std::span<const size_t> free,
                                   size_t count);

}  // namespace placement
