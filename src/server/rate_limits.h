// How many calls one caller may make. Lock-free; any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "auth/access.h"
#include "base/time.h"

namespace server {

// Lets `per_second` through on average and `burst` at once: the generic cell rate algorithm, a
// token bucket that keeps a single number. Source: ITU-T I.371, annex A.
class Pace {
 public:
  // `per_second` 0: no limit.
  constexpr Pace(int64_t per_second, int64_t burst)
      : spacing_ns_(per_second == 0 ? 0 : 1'000'000'000 / per_second),
        allowance_ns_(spacing_ns_ * (burst - 1)) {}
  // One every `spacing`.
  constexpr Pace(base::Milliseconds spacing, int64_t burst)
      : spacing_ns_(std::chrono::nanoseconds(spacing).count()),
        allowance_ns_(spacing_ns_ * (burst - 1)) {}

  // Whether one more may pass at `now` (monotonic). `due` is what was kept of the caller; 0 at
  // first.
  bool pass(std::atomic<int64_t>& due, base::Milliseconds now) const;

 private:
  int64_t spacing_ns_;
  int64_t allowance_ns_;
};

// One of `slots`, which the access key has to itself or shares.
size_t key_slot(std::string_view access_key_id, size_t slots);

// Of all access keys. Memory is fixed: two keys whose ids meet in one slot share it. What agents
// report has a budget of its own, so that a busy client cannot silence the agents that use its key.
class RateLimits {
 public:
  // Calls a second of one key, and twice as many at once; agents' calls ten times that. 0: no
  // limit.
  explicit RateLimits(int64_t per_second);

  bool pass(std::string_view access_key_id, std::string_view operation, base::Milliseconds now);

 private:
  static constexpr size_t slots = 4096;

  Pace clients_;
  Pace agents_;
  std::array<std::atomic<int64_t>, slots> due_{};
};

// Of websockets that agents open: an agent needs two, and new ones once in a while. Who has a full
// key may run any number of agents with it: each instance that it names has a pace of its own.
class Handshakes {
 public:
  bool pass(const auth::Caller& caller, std::string_view instance, base::Milliseconds now);

 private:
  static constexpr size_t slots = 4096;

  Pace pace_{1, 60};
  std::array<std::atomic<int64_t>, slots> due_{};
};

}  // namespace server
