// Texts as protocols spell them: ASCII, whatever the locale.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace base {

inline char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
std::string lower(std::string_view text);

inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

// Without blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t");

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
// A letter, a digit, or one of `others`.
inline bool is_plain(char c, std::string_view others = {}) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) ||
         others.find(c) != std::string_view::npos;
}

// The whole text as a number; nullopt when it is anything else, or too large.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

// Of a hexadecimal digit; -1: it is none.
int hex_value(char digit);

// Everything but letters, digits, "-._~" and the characters of `kept` becomes %XX.
// Source: RFC 3986, section 2.3.
std::string percent_encoded(std::string_view text, std::string_view kept = {});

}  // namespace base
