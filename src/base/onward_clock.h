// A wall clock that timers can rely on.
#pragma once

#include "base/time.h"

namespace base {

// The wall clock for as long as it goes on. When somebody sets it back, this one goes on at half
// the speed until the wall clock has caught up: nothing that is due is put off by the hour, and no
// time comes twice. One thread at a time. `clock` outlives it.
class OnwardClock {
 public:
  explicit OnwardClock(Clock& clock)
      : clock_(clock), last_(clock.now()), last_monotonic_(clock.monotonic()) {}

  Time now() {
    const Time wall = clock_.now();
    const Milliseconds monotonic = clock_.monotonic();
    if (wall >= last_) {
      last_ = wall;
      last_monotonic_ = monotonic;
    } else {
      const Milliseconds half = (monotonic - last_monotonic_) / 2;
      last_ += half;
      last_monotonic_ += 2 * half;
    }
    return last_;
  }

 private:
  Clock& clock_;
  Time last_;
  Milliseconds last_monotonic_;
};

}  // namespace base
