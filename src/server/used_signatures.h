// The signatures that websockets were opened with, each good once: a signature is good for minutes,
// and whoever reads one on the way could open a second session of an agent with it. Lock-free; any
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace server {

class UsedSignatures {
 public:
  // What was signed before `started` (monotonic) may have been used with the server that was here
  // before, and is refused. Signatures tell seconds.
  explicit UsedSignatures(base::Milliseconds started) : started_(started) {}

  // Takes a signature that was verified: 64 hexadecimal digits, signed at `signed_at`, good until
  // `good_until`. Memory is fixed. Errors: InvalidSignatureException where it was used already, or
  // may have been; ThrottlingException where there is no room to remember it.
  base::Result<void> take(std::string_view signature, base::Time signed_at, base::Time good_until,
                          base::Time now, base::Milliseconds monotonic);

 private:
  static constexpr size_t buckets = 8'192;
  static constexpr size_t ways = 8;
  // The second after which the signature is not good any more, and 32 bits of it; 0: free.
  using Bucket = std::array<std::atomic<uint64_t>, ways>;

  base::Milliseconds started_;
  std::array<Bucket, buckets> buckets_{};
};

}  // namespace server
