// A clock for benchmarks of decisions that take microseconds on a machine that does other work too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>

namespace placement::test {

// Nanoseconds that this thread has had a core, less what it cost to read that.
class CoreClock {
 public:
  CoreClock() {
    for (int batch = 0; batch < 50; ++batch) {
      const int64_t started = raw_ns();
      for (int i = 0; i < 99; ++i) (void)raw_ns();
      const int64_t cost = (raw_ns() - started) / 100;
      cost_ns_ = batch == 0 ? cost : std::min(cost_ns_, cost);
    }
  }

  int64_t now_ns() { return raw_ns() - cost_ns_ * reads_++; }

 private:
  static int64_t raw_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1'000'000'000 + now.tv_nsec;
  }

  int64_t cost_ns_ = 0;
  int64_t reads_ = 0;
};

}  // namespace placement::test
