// How often something may be done. Lock-free; any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/time.h"

namespace base {

// Lets `per_second` through on average and `burst` at once: the generic cell rate algorithm, a
// token bucket that keeps a single number. Source: ITU-T I.371, annex A.
class Pace {
 public:
  // `per_second` 0: no limit.
  constexpr Pace(int64_t per_second, int64_t burst)
      : spacing_ns_(per_second == 0 ? 0 : 1'000'000'000 / per_second),
        allowance_ns_(spacing_ns_ * (burst - 1)) {}
  // One every `spacing`.
  constexpr Pace(Milliseconds spacing, int64_t burst)
      : spacing_ns_(std::chrono::nanoseconds(spacing).count()),
        allowance_ns_(spacing_ns_ * (burst - 1)) {}

  // Whether one more may pass at `now` (monotonic). `due` is what was kept of the caller; 0 at
  // first.
  bool pass(std::atomic<int64_t>& due, Milliseconds now) const;

 private:
  int64_t spacing_ns_;
  int64_t allowance_ns_;
};

}  // namespace base
