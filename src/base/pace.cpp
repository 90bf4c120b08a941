#include "base/pace.h"

#include <algorithm>
#include <chrono>

namespace base {

bool Pace::pass(std::atomic<int64_t>& due, Milliseconds now) const {
  if (spacing_ns_ == 0) return true;
  const int64_t now_ns = std::chrono::nanoseconds(now).count();
  int64_t seen = due.load(std::memory_order_relaxed);
  while (true) {
    const int64_t start = std::max(seen, now_ns);
    if (start - now_ns > allowance_ns_) return false;
    if (due.compare_exchange_weak(seen, start + spacing_ns_, std::memory_order_relaxed)) {
      return true;
    }
  }
}

}  // namespace base
