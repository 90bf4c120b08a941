// What one task asks, added up once so that each instance is compared with a few numbers.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "model/resources.h"

namespace placement {

// One container's share of a GPU. All shares of one task go on the same GPU.
// Source: ECS Developer Guide, GPU sharing: several MPS containers of a task land on one GPU.
struct Share {
  int64_t memory_mib = 0;  // 0: asked by `milli`.
  int32_t milli = 0;       // 0: asked by `memory_mib`.
  friend auto operator<=>(const Share&, const Share&) = default;
};

struct Demand {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::vector<model::HostPort> host_ports;  // Sorted, without duplicates.
  int32_t whole_gpus = 0;                   // Summed over the containers.
  bool all_gpus = false;                    // One container wants every GPU.
  std::vector<Share> shares;
  std::vector<std::string> mig_profiles;  // One MIG instance each.
  std::string contradiction;  // Not empty: no instance can ever fit this, and why, one sentence.

  bool wants_gpu() const {
    return whole_gpus > 0 || all_gpus || !shares.empty() || !mig_profiles.empty();
  }
  friend bool operator==(const Demand&, const Demand&) = default;
};

Demand demand_of(const model::ResourceRequest& request);

// What all shares take of one GPU with `memory_mib` of VRAM.
struct ShareSum {
  int64_t memory_mib = 0;
  int32_t milli = 0;  // Of the shares asked by fraction only.
};
// A fraction pins that part of the GPU's memory, rounded down.
int64_t pinned_memory_mib(const Share& share, int64_t gpu_memory_mib);
ShareSum sum_of(const std::vector<Share>& shares, int64_t gpu_memory_mib);
// The larger of the two parts, in thousandths rounded up; over 1000: larger than the GPU.
int64_t milli_of(const ShareSum& sum, int64_t gpu_memory_mib);

}  // namespace placement
