// Which calls have a line of their own in the audit log. Lock-free; any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/pace.h"
#include "base/time.h"
#include "server/audit_entry.h"
#include "server/rate_limits.h"

namespace server {

// What has a full key does, always has one. Who has less, or no key at all, must not be able to
// push everything else out of the file: after a first burst a line every second, every ten seconds
// of what is refused, for each key, and for all together who have not proved who they are. The
// others are counted.
class AuditPace {
 public:
  bool pass(const AuditedCall& call, bool refused, base::Milliseconds now);
  // Those that did not pass since it was last asked.
  LeftOut take_left_out();

 private:
  static constexpr size_t slots = 4096;

  base::Pace others_{base::Milliseconds{1'000}, 1'000};
  base::Pace refused_{base::Milliseconds{10'000}, 60};
  std::array<std::atomic<int64_t>, slots> due_{};
  std::atomic<int64_t> unknown_due_ = 0;
  std::atomic<uint64_t> left_out_unknown_ = 0;
  std::atomic<uint64_t> left_out_refused_ = 0;
  std::atomic<uint64_t> left_out_others_ = 0;
};

}  // namespace server
