#include "base/printable.h"

#include <cstdint>

#include "base/format.h"

namespace base {
namespace {

struct Decoded {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: not UTF-8.
};

// The first character. Source: Unicode Standard, table 3-7, "Well-formed UTF-8 byte sequences".
Decoded decode(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return {};
  uint32_t code = first & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const uint32_t least = length == 4 ? 0x10000U : length == 3 ? 0x800U : 0x80U;
  if (code < least || code > 0x10FFFFU || (code >= 0xD800U && code < 0xE000U)) return {};
  return {code, length};
}

bool is_control(uint32_t code) {
  if (code < 0x20 || (code >= 0x7F && code < 0xA0)) return true;
  // Line and paragraph separators; marks of direction.
  return (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069);
}

}  // namespace

std::string printable(std::string_view text, size_t most, std::string_view kept) {
  std::string out;
  const size_t end = text.size() <= most ? text.size() : most;
  out.reserve(end);
  size_t at = 0;
  while (at < end) {
    const Decoded next = decode(text.substr(at));
    if (next.bytes == 1 && kept.contains(text[at])) {
      out += text[at];
    } else if (next.bytes == 0) {
      out += format("\\u{:04x}", static_cast<uint8_t>(text[at]));
    } else if (is_control(next.code)) {
      out += format("\\u{:04x}", next.code);
    } else {
      out += text.substr(at, next.bytes);
    }
    at += next.bytes == 0 ? 1 : next.bytes;
  }
  if (at < text.size()) out += format("... ({} bytes more)", text.size() - at);
  return out;
}

}  // namespace base
