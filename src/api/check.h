// What every reader of described values checks and says; for the .cpp files of this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/shape.h"

namespace api {

// "an integer", "one of EC2, FARGATE": what a value of `shape` is, for a sentence.
std::string expectation(const Shape& shape);

// Text as it may stand in a sentence: quoted, escaped and cut when long.
std::string quoted(std::string_view text);

// A sentence when the value is outside of `range`, by value or by length; `path` names the member.
std::optional<std::string> range_violation(const Range& range, const Shape& shape,
                                           const void* value, std::string_view path);

// The time of a number of seconds as milliseconds; nullopt beyond the years 1 to 9999.
std::optional<int64_t> timestamp_milliseconds(double seconds);

// Reads the text of a double as AWS protocols write those that are no numbers.
std::optional<double> special_double(std::string_view text);

}  // namespace api
