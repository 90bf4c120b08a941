#include "server/used_signatures.h"

#include <charconv>
#include <optional>

namespace server {
namespace {

constexpr size_t bucket_digits = 4;
constexpr size_t tag_digits = 8;
constexpr uint64_t tag_bits = 32;

uint64_t hex_number(std::string_view digits) {
  uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  return number;
}

uint64_t seconds_of(base::Time time) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(time.time_since_epoch());
  return static_cast<uint64_t>(seconds.count());
}

bool is_good(uint64_t entry, uint64_t now) {
  return entry >> tag_bits >= now;
}

std::unexpected<base::Error> used() {
  return base::fail("InvalidSignatureException",
                    "This signature has opened a websocket already: sign each one anew.");
}

}  // namespace

base::Result<void> UsedSignatures::take(std::string_view signature, base::Time signed_at,
                                        base::Time good_until, base::Time now,
                                        base::Milliseconds monotonic) {
  // The start as the clock of now tells it, which may have been set since.
  if (signed_at < std::chrono::floor<std::chrono::seconds>(now - (monotonic - started_))) {
    return base::fail("InvalidSignatureException",
                      "This signature is older than the server, which cannot know whether it was "
                      "used: sign anew. If it has just been made, the machine's clock is behind.");
  }
  Bucket& bucket = buckets_[hex_number(signature.substr(0, bucket_digits)) % buckets];
  const uint64_t tag = hex_number(signature.substr(bucket_digits, tag_digits));
  const uint64_t mine = seconds_of(good_until) << tag_bits | tag;
  const uint64_t second = seconds_of(now);
  const auto is_same = [&](uint64_t entry) {
    return (entry & ((uint64_t{1} << tag_bits) - 1)) == tag && is_good(entry, second);
  };
  while (true) {
    std::atomic<uint64_t>* free = nullptr;
    uint64_t before = 0;
    for (std::atomic<uint64_t>& way : bucket) {
      const uint64_t entry = way.load();
      if (is_same(entry)) return used();
      if (free != nullptr || is_good(entry, second)) continue;
      free = &way;
      before = entry;
    }
    if (free == nullptr) {
      return base::fail("ThrottlingException",
                        "Rate exceeded: too many websockets were opened. Try again.");
    }
    if (!free->compare_exchange_strong(before, mine)) continue;
    // Of two that bring the same at once into two places, neither is let in.
    for (const std::atomic<uint64_t>& way : bucket) {
      if (&way != free && is_same(way.load())) return used();
    }
    return {};
  }
}

}  // namespace server
