// What the tests of packing share: an instance, and kinds of tasks.
#pragma once

#include <cstdint>

#include "placement/pack/hardware.h"
#include "placement/pack/mix.h"

namespace placement::pack {

inline constexpr Hardware eight_gpus{.cpu_units = 96000,
                                     .memory_mib = 384 << 10,
                                     .gpus = 8,
                                     .gpu_memory_mib = 10000,
                                     .shareable = true};

inline Kind whole(int32_t gpus, int64_t cpu_units = 0) {
  return {.cpu_units = cpu_units, .whole_gpus = gpus};
}
inline Kind share(int32_t milli, int64_t cpu_units = 0) {
  return {.cpu_units = cpu_units, .share = {.milli = milli}};
}
inline Kind no_gpu(int64_t cpu_units) {
  return {.cpu_units = cpu_units};
}

}  // namespace placement::pack
