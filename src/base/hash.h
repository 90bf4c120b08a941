// FNV-1a: short texts to numbers, the same in every run. Whoever chooses the text can choose the
// number too. Source: Fowler, Noll and Vo, "The FNV Non-Cryptographic Hash Algorithm".
#pragma once

#include <cstdint>
#include <string_view>

namespace base {

inline constexpr uint64_t fnv_start = 0xCBF29CE484222325ULL;

constexpr uint64_t fnv1a(uint8_t byte, uint64_t hash) {
  return (hash ^ byte) * 0x100000001B3ULL;
}
constexpr uint64_t fnv1a(std::string_view text, uint64_t hash = fnv_start) {
  for (const char c : text) hash = fnv1a(static_cast<uint8_t>(c), hash);
  return hash;
}

}  // namespace base
