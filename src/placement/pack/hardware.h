// What an instance has when it is empty, as far as packing looks at it.
#pragma once

#include <compare>
#include <cstdint>

#include "placement/pack/mix.h"

namespace placement::pack {

// GPUs beyond this many on one instance are placed on, but not looked at by the packing objective.
inline constexpr size_t most_cards = 16;

struct Hardware {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  int32_t gpus = 0;            // Whole GPUs.
  int64_t gpu_memory_mib = 0;  // Of the first; the GPUs of one instance are nearly always alike.
  bool shareable = false;      // MPS can share its GPUs.
  friend auto operator<=>(const Hardware&, const Hardware&) = default;
};

// Thousandths of one GPU that the kind asks of each GPU it uses: 1000 for whole ones, 0 for none;
// above 1000 where the share is larger than such a GPU.
int32_t milli_on(const Hardware& hardware, const Kind& kind);
// How many GPUs the kind asks for.
int32_t gpus_on(const Hardware& hardware, const Kind& kind);
// Whether the empty instance could take it.
bool could_run(const Hardware& hardware, const Kind& kind);

}  // namespace placement::pack
