#include "api/base64.h"

#include <array>
#include <cstdint>

namespace api {
namespace {

constexpr std::string_view alphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t no_digit = 0xFF;

constexpr std::array<uint8_t, 256> digit_values = [] {
  std::array<uint8_t, 256> values;
  values.fill(no_digit);
  for (size_t index = 0; index < alphabet.size(); ++index) {
    values[static_cast<unsigned char>(alphabet[index])] = static_cast<uint8_t>(index);
  }
  return values;
}();

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
  for (size_t start = 0; start < bytes.size(); start += 3) {
    const std::string_view group = bytes.substr(start, 3);
    uint32_t bits = 0;
    for (size_t index = 0; index < 3; ++index) {
      bits = bits << 8U | (index < group.size() ? static_cast<unsigned char>(group[index]) : 0U);
    }
    for (uint32_t digit = 0; digit < 4; ++digit) {
      out += digit <= group.size() ? alphabet[bits >> (18 - 6 * digit) & 0x3FU] : '=';
    }
  }
}

std::optional<std::string> decode_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  for (size_t start = 0; start < text.size(); start += 4) {
    const bool last = start + 4 == text.size();
    uint32_t bits = 0;
    uint32_t digits = 4;
    if (last && text[start + 3] == '=') digits = text[start + 2] == '=' ? 2 : 3;
    for (uint32_t index = 0; index < digits; ++index) {
      const uint8_t value = digit_values[static_cast<unsigned char>(text[start + index])];
      if (value == no_digit) return std::nullopt;
      bits |= static_cast<uint32_t>(value) << (18 - 6 * index);
    }
    for (uint32_t index = 0; index + 1 < digits; ++index) {
      bytes += static_cast<char>(bits >> (16 - 8 * index) & 0xFFU);
    }
    // Bits behind the last byte are zero in the one right form.
    if (digits < 4 && (bits & ((1U << (24 - 8 * (digits - 1))) - 1)) != 0) return std::nullopt;
  }
  return bytes;
}

}  // namespace api
