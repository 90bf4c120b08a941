// Members of a call that are only told back: a record keeps them as the JSON of what Describe
// answers.
#pragma once

#include <string>

#include "api/json.h"
#include "base/result.h"

namespace control {

// Empty for an empty text. A member that this version cannot read is left out.
template <class T>
T read_echo(const std::string& echoed) {
  T value;
  if (echoed.empty()) return value;
  const auto read = api::parse_into(echoed, api::shape_of<T>(), &value, {.validate = false});
  CHECK(read.has_value());  // We have printed it.
  return value;
}

// From one structure to another with members of the same names; what the other does not have is
// left out, and what it has but is not given stays.
template <class From, class To>
void copy_members(const From& from, To& to) {
  const auto read =
      api::parse_into(api::print(from), api::shape_of<To>(), &to, {.validate = false});
  CHECK(read.has_value());  // Members of one name are of one kind.
}

}  // namespace control
