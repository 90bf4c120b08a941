// The only source of randomness. std:: distributions differ between libraries, so none are used.
#pragma once

#include <cstdint>
#include <string>

namespace base {

// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014).
// Deterministic; an edge seeds it with system_seed(), a test with a number.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }
  // Uniform in [0, limit), limit > 0.
  uint64_t below(uint64_t limit) { return next() % limit; }
  bool chance(uint32_t percent) { return below(100) < percent; }
  // Lower-case hexadecimal digits: a task id is hex(32).
  std::string hex(uint32_t digits);
  // An RFC 4122 version 4 UUID.
  std::string uuid();

 private:
  uint64_t state_;
};

// 64 bits from the operating system. For edges only.
uint64_t system_seed();

}  // namespace base
