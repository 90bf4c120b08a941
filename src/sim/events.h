// Virtual time: what happens next is the earliest thing that was asked for. Nothing in the
// simulator reads another clock.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "base/time.h"

namespace sim {

class Events {
 public:
  using Act = std::move_only_function<void()>;

  base::Time now() const { return now_; }
  // Things due at the same moment happen in the order in which they were asked for.
  void after(base::Milliseconds delay, Act act);
  // Does the earliest thing that is due by `end`; false when there is none: `end` is now then.
  bool run_next(base::Time end);
  uint64_t done() const { return done_; }

 private:
  base::Time now_{std::chrono::seconds(1'750'000'000)};
  uint64_t sequence_ = 0;
  uint64_t done_ = 0;
  std::map<std::pair<base::Time, uint64_t>, Act> queue_;
};

// The clock of one process: off by some seconds, and a little fast or slow.
class DriftingClock {
 public:
  DriftingClock() = default;
  DriftingClock(base::Time start, base::Milliseconds offset, int64_t parts_per_million)
      : start_(start), offset_(offset), parts_per_million_(parts_per_million) {}

  // What the process reads when it is `now` in truth.
  base::Time local(base::Time now) const;
  // How long it really takes until the process reads `local`; at least 0. At most a day, so that
  // "never" stays a number.
  base::Milliseconds until(base::Time local, base::Time now) const;

 private:
  base::Time start_{};
  base::Milliseconds offset_{0};
  int64_t parts_per_million_ = 0;
};

}  // namespace sim
