// How many calls one caller may make. Lock-free; any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "auth/access.h"
#include "base/pace.h"
#include "base/time.h"

namespace server {

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

  base::Pace clients_;
  base::Pace agents_;
  std::array<std::atomic<int64_t>, slots> due_{};
};

// Of websockets that agents open: an agent needs two, and new ones once in a while. Who has a full
// key may run any number of agents with it: each instance that it names has a pace of its own.
class Handshakes {
 public:
  bool pass(const auth::Caller& caller, std::string_view instance, base::Milliseconds now);

 private:
  static constexpr size_t slots = 4096;

  base::Pace pace_{1, 60};
  std::array<std::atomic<int64_t>, slots> due_{};
};

}  // namespace server
