// How much of an instance's idle GPU is of no use to the typical task: the measure F of
// Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with Fragmentation
// Gradient Descent", USENIX ATC'23, sections 3 and 4.
//   F(m) = R, all that is idle, when m asks no GPU, is not eligible here, or does not fit (CPU, or
//          fewer devices with enough free than m asks for);
//   F(m) = the sum of the devices' free thousandths that are below what m asks of each, otherwise;
//   F = the sum over the typical kinds m of weight times F(m).
// It is computed as R less what is of use, from a table over the levels (what kinds ask of a
// device), the number of devices that reach the level, and the free CPU.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "placement/pack/hardware.h"
#include "placement/pack/mix.h"

namespace placement::pack {

// Different amounts asked of a device beyond this many are merged with a neighbour.
inline constexpr size_t most_levels = 32;

// Per level, of the devices that reach it: their number and the sum of their free thousandths.
struct Reach {
  alignas(16) std::array<int16_t, most_levels> sum{};
  alignas(16) std::array<int16_t, most_levels> count{};
};

class Fragmentation {
 public:
  Fragmentation() = default;
  // `eligible` holds the kinds that may run on the instance; weights need not sum up to 1.
  Fragmentation(const Hardware& hardware, const std::vector<Weighted>& eligible);

  // A device with so much free joins or leaves the reach.
  void add(Reach& reach, int16_t milli) const;
  void remove(Reach& reach, int16_t milli) const;
  // Thousandths that the typical task can use, of those in reach, with so much CPU free.
  double useful(const Reach& reach, int64_t cpu_free) const;

 private:
  size_t padded_levels_ = 0;  // A multiple of 8; those that pad are out of reach.
  size_t levels_ = 0;
  size_t most_gpus_ = 0;
  alignas(16) std::array<int16_t, most_levels> level_{};
  std::vector<int64_t> cpu_steps_;  // Ascending: what kinds ask.
  // [CPU step - 1][level][count of devices]: weight of the kinds that fit.
  std::vector<double> weight_;
};

}  // namespace placement::pack
