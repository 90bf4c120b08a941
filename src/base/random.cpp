#include "base/random.h"

#include <random>

namespace base {

std::string Random::hex(uint32_t digits) {
  static constexpr char alphabet[] = "0123456789abcdef";
  std::string text(digits, '0');
  uint64_t bits = 0;
  for (uint32_t i = 0; i < digits; ++i) {
    if (i % 16 == 0) bits = next();
    text[i] = alphabet[bits & 15];
    bits >>= 4;
  }
  return text;
}

std::string Random::uuid() {
  std::string text = hex(32);
  text[12] = '4';
  text[16] = "89ab"[below(4)];
  for (const size_t dash : {20U, 16U, 12U, 8U}) text.insert(dash, "-");
  return text;
}

uint64_t system_seed() {
  std::random_device device;
  return (static_cast<uint64_t>(device()) << 32) | device();
}

}  // namespace base
