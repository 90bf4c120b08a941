// FilterLogEvents' filterPattern.
// Source: Amazon CloudWatch Logs User Guide, "Filter pattern syntax for metric filters,
// subscription filters, filter log events, and Live Tail".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace logs {

// What a selector such as $.user.id finds in a message.
struct JsonField {
  enum class Kind : uint8_t { NotJson, Missing, Null, True, False, Number, Text, Container };
  Kind kind = Kind::NotJson;  // NotJson: the message as a whole is none.
  std::string text = {};      // Of a Number or a Text.
  double number = 0;          // Of a Number.
};

// Reads one field of a message; `path` is in SQLite's JSON path language ($."user"."id"[0]).
using ReadField =
    std::function<base::Result<JsonField>(std::string_view message, const std::string& path)>;

struct Condition;  // A parsed JSON pattern; filter_pattern.cpp knows its inside.

// A parsed pattern. Values are copied freely; a parsed condition is immutable, hence shared.
//
// Terms: `one two` (all of them), `-three` (not it), `?four ?five` (any of them; looked at only
// where every term has the question mark, as CloudWatch Logs does), `"a phrase"`. A term matches
// inside words and by case.
// JSON: `{ $.a.b[0] = value }` with = != < > <= >=, `*` at the start or the end of a value,
// IS NULL, IS TRUE, IS FALSE, EXISTS, NOT EXISTS, &&, || and parentheses. A selector that finds
// nothing, null, an array or an object satisfies neither = nor !=; a message that is not JSON
// satisfies nothing.
class FilterPattern {
 public:
  // Matches every message.
  FilterPattern() = default;

  // Errors: InvalidParameterException that names what is wrong; more than 1,024 bytes,
  // space-delimited patterns ([...]) and regular expressions (%...%) are refused so.
  static base::Result<FilterPattern> parse(std::string_view text);

  // Errors: those of `read_field`, which only a JSON pattern calls.
  base::Result<bool> matches(std::string_view message, const ReadField& read_field) const;

  // How many times a message may be looked through for the terms.
  size_t terms() const { return required_.size() + any_of_.size() + excluded_.size(); }

 private:
  bool matches_terms(std::string_view message) const;

  std::vector<std::string> required_;
  std::vector<std::string> any_of_;
  std::vector<std::string> excluded_;
  std::shared_ptr<const Condition> condition_;
};

}  // namespace logs
