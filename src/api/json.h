// Described values from and to JSON, as AWS JSON 1.1 has it. Pure.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/shape.h"
#include "base/result.h"
#include "json/value.h"

namespace api {

struct ParseOptions {
  // What is not a value of the shape at all (broken JSON, a text where a number belongs).
  std::string_view serialization_code = "SerializationException";
  // What is a value but not an allowed one: a required member is missing, an enum's name is
  // unknown, a number or length is out of range. ECS and Logs say InvalidParameterException, STS
  // ValidationError.
  std::string_view validation_code = "InvalidParameterException";
  // False: such values are not refused, and one with an unknown enum name is left out. For a client
  // that reads a newer server's replies.
  bool validate = true;
  // Members that the shape has not are refused, not ignored: for what would lose them when it is
  // written again.
  bool refuse_unknown = false;
  uint32_t max_depth = 64;
};

// Reads `text` into the struct of `shape` at `out`; members that are absent or null stay as they
// are, unknown members are ignored unless refused, of a member given twice the last counts.
// Timestamps are numbers of seconds since 1970-01-01 or RFC 3339 texts. 1.0 is an integer.
// Errors: see ParseOptions; the message names the member by its path
// ("containerDefinitions[0].memory"), what was given and what is allowed. A value that cannot be
// read is reported before one that is not allowed. On an error `out` holds what was read so far.
base::Result<void> parse_into(std::string_view text, const Shape& shape, void* out,
                              const ParseOptions& options = {});
base::Result<void> parse_value_into(const json::Value& document, const Shape& shape, void* out,
                                    const ParseOptions& options = {});
// The same for a document that is read already; templates, so that a text never becomes a Value.
template <std::same_as<json::Value> Document>
base::Result<void> parse_into(const Document& document, const Shape& shape, void* out,
                              const ParseOptions& options = {}) {
  return parse_value_into(document, shape, out, options);
}

template <class T>
base::Result<T> parse(std::string_view text, const ParseOptions& options = {}) {
  T value{};
  TRY_VOID(parse_into(text, shape_of<T>(), &value, options));
  return value;
}
template <class T, std::same_as<json::Value> Document>
base::Result<T> parse(const Document& document, const ParseOptions& options = {}) {
  T value{};
  TRY_VOID(parse_value_into(document, shape_of<T>(), &value, options));
  return value;
}

// Appends the value at `value` as compact JSON. Timestamps are numbers of seconds with up to three
// decimals.
void print_to(std::string& out, const Shape& shape, const void* value);

template <class T>
std::string print(const T& value) {
  std::string out;
  print_to(out, shape_of<T>(), &value);
  return out;
}

}  // namespace api
