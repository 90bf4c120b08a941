#include "sim/events.h"

#include <algorithm>

namespace sim {
namespace {

constexpr int64_t million = 1'000'000;
constexpr base::Milliseconds longest_wait = std::chrono::hours(24);

}  // namespace

void Events::after(base::Milliseconds delay, Act act) {
  const base::Time due = now_ + std::max(delay, base::Milliseconds{0});
  queue_.emplace(std::pair(due, sequence_++), std::move(act));
}

bool Events::run_next(base::Time end) {
  if (queue_.empty() || queue_.begin()->first.first > end) {
    now_ = std::max(now_, end);
    return false;
  }
  auto next = queue_.extract(queue_.begin());
  now_ = next.key().first;
  ++done_;
  next.mapped()();
  return true;
}

base::Time DriftingClock::local(base::Time now) const {
  const base::Milliseconds passed = now - start_;
  return now + offset_ + base::Milliseconds{passed.count() * parts_per_million_ / million};
}

base::Milliseconds DriftingClock::until(base::Time local_time, base::Time now) const {
  const base::Time here = local(now);
  if (local_time <= here) return base::Milliseconds{0};
  if (local_time >= here + longest_wait) return longest_wait;
  const int64_t left = (local_time - here).count();
  // One millisecond more than the division gives: never early.
  return base::Milliseconds{left * million / (million + parts_per_million_) + 1};
}

}  // namespace sim
