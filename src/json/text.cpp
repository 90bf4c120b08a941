#include "json/text.h"

#include <array>
#include <charconv>
#include <cmath>

namespace json {
namespace {

constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

// True for bytes that stand for themselves within a JSON string.
constexpr std::array<bool, 256> plain_bytes = [] {
  std::array<bool, 256> plain{};
  for (size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

void append_escaped(std::string& out, unsigned char byte) {
  constexpr std::string_view digits = "0123456789abcdef";
  switch (byte) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += digits[byte >> 4U];
      out += digits[byte & 0xFU];
  }
}

template <class Number>
void append_number(std::string& out, Number value) {
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  out.append(buffer.data(), end.ptr);
}

}  // namespace

size_t utf8_sequence_length(std::string_view text) {
  const auto byte = [&](size_t index) { return static_cast<unsigned char>(text[index]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  size_t length = 0;
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    length = 3;
    if (lead == 0xE0) second_min = 0xA0;  // Shorter forms exist for what is below.
    if (lead == 0xED) second_max = 0x9F;  // Surrogates are above.
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    if (lead == 0xF0) second_min = 0x90;
    if (lead == 0xF4) second_max = 0x8F;  // U+10FFFF is the last character.
  } else {
    return 0;
  }
  if (text.size() < length || byte(1) < second_min || byte(1) > second_max) return 0;
  for (size_t index = 2; index < length; ++index) {
    if (byte(index) < 0x80 || byte(index) > 0xBF) return 0;
  }
  return length;
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  size_t copied = 0;  // Everything before this byte is in `out`.
  size_t index = 0;
  while (index < text.size()) {
    const auto byte = static_cast<unsigned char>(text[index]);
    if (plain_bytes[byte]) [[likely]] {
      ++index;
      continue;
    }
    if (byte >= 0x80) {
      const size_t length = utf8_sequence_length(text.substr(index));
      if (length != 0) {
        index += length;
        continue;
      }
    }
    out.append(text, copied, index - copied);
    if (byte >= 0x80) {
      out += replacement_character;
    } else {
      append_escaped(out, byte);
    }
    copied = ++index;
  }
  out.append(text, copied);
  out += '"';
}

void append_integer(std::string& out, int64_t value) {
  append_number(out, value);
}
void append_integer(std::string& out, uint64_t value) {
  append_number(out, value);
}

void append_double(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "\"NaN\"";
  } else if (std::isinf(value)) {
    out += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  } else {
    append_number(out, value);
  }
}

}  // namespace json
