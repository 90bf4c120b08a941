#include "api/check.h"

#include <cmath>
#include <limits>

#include "base/format.h"
#include "base/result.h"
#include "json/text.h"

namespace api {
namespace {

// What lists, maps and texts have in common.
std::optional<int64_t> length_of(const Shape& shape, const void* value) {
  switch (shape.kind) {
    case Kind::List:
      return static_cast<int64_t>(shape.list->size(value));
    case Kind::Map:
      return static_cast<int64_t>(shape.map->size(value));
    case Kind::Blob:
      return static_cast<int64_t>(shape.string->get(value).size());
    case Kind::String: {
      int64_t characters = 0;
      for (const char byte : shape.string->get(value)) {
        // The bytes within a UTF-8 sequence are 10xxxxxx.
        if ((static_cast<unsigned char>(byte) & 0xC0U) != 0x80U) ++characters;
      }
      return characters;
    }
    default:
      return std::nullopt;
  }
}

std::string bounds(const Range& range) {
  if (range.max == Range().max) return base::format("at least {}", range.min);
  if (range.min == Range().min) return base::format("at most {}", range.max);
  return base::format("between {} and {}", range.min, range.max);
}

bool is_inside(const Range& range, double value) {
  return (range.min == Range().min || value >= static_cast<double>(range.min)) &&
         (range.max == Range().max || value <= static_cast<double>(range.max));
}

}  // namespace

std::string expectation(const Shape& shape) {
  switch (shape.kind) {
    case Kind::Boolean:
      return "true or false";
    case Kind::Integer:
    case Kind::Long: {
      // Every integer type here is two's complement, so its size gives its bounds.
      const uint32_t bits = shape.size * 8;
      const uint64_t max =
          std::numeric_limits<uint64_t>::max() >> (64 - bits + (shape.is_signed ? 1 : 0));
      return shape.is_signed ? base::format("an integer from -{} to {}", max + 1, max)
                             : base::format("an integer from 0 to {}", max);
    }
    case Kind::Double:
      return "a number";
    case Kind::String:
      return "a string";
    case Kind::Enum: {
      std::string text = "one of ";
      for (const EnumName& each : shape.names) {
        if (&each != &shape.names.front()) text += ", ";
        text += each.name;
      }
      return text;
    }
    case Kind::Timestamp:
      return "a time (a number of seconds since 1970-01-01T00:00:00Z, or RFC 3339 text)";
    case Kind::Blob:
      return "base64 text";
    case Kind::Document:
      return "any JSON value";
    case Kind::List:
      return "a list";
    case Kind::Map:
    case Kind::Structure:
      return "an object";
  }
  return "a value";
}

std::string quoted(std::string_view text) {
  constexpr size_t most = 80;
  std::string out;
  if (text.size() <= most) {
    json::append_string(out, text);
    return out;
  }
  size_t end = 0;  // Not within a character.
  while (end < most) {
    const size_t length = json::utf8_sequence_length(text.substr(end));
    end += length == 0 ? 1 : length;
  }
  json::append_string(out, text.substr(0, end));
  return out + base::format("... ({} bytes)", text.size());
}

std::optional<std::string> range_violation(const Range& range, const Shape& shape,
                                           const void* value, std::string_view path) {
  if (const std::optional<int64_t> length = length_of(shape, value)) {
    if (*length >= range.min && *length <= range.max) return std::nullopt;
    return base::format("The member {} must have a length of {}, but its length is {}.", path,
                        bounds(range), *length);
  }
  if (shape.kind == Kind::Double) {
    const double number = *static_cast<const double*>(value);
    if (is_inside(range, number)) return std::nullopt;
    return base::format("The member {} must be {}, but {} was given.", path, bounds(range), number);
  }
  if (shape.kind != Kind::Integer && shape.kind != Kind::Long) return std::nullopt;
  const int64_t number = load_integer(shape, value);
  if (number >= range.min && number <= range.max) return std::nullopt;
  return base::format("The member {} must be {}, but {} was given.", path, bounds(range), number);
}

std::optional<int64_t> timestamp_milliseconds(double seconds) {
  constexpr double first = -62135596800;  // 0001-01-01T00:00:00Z
  constexpr double end = 253402300800;    // 10000-01-01T00:00:00Z
  if (!(seconds >= first && seconds < end)) return std::nullopt;
  return std::llround(seconds * 1000);
}

std::optional<double> special_double(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

}  // namespace api
