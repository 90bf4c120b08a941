// x-amzn-RequestId: a fresh UUID for each request, from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/random.h"

namespace server {

class RequestIds {
 public:
  explicit RequestIds(uint64_t seed) : seed_(seed) {}
  std::string next() { return base::Random(seed_ ^ (++count_ * 0x9E3779B97F4A7C15ULL)).uuid(); }

 private:
  const uint64_t seed_;
  std::atomic<uint64_t> count_ = 0;
};

}  // namespace server
