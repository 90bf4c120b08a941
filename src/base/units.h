// Units that more than one folder counts in.
#pragma once

#include <cstdint>

namespace base {

inline constexpr int64_t bytes_per_mib = int64_t{1} << 20;
inline constexpr int64_t ns_per_ms = 1'000'000;

}  // namespace base
