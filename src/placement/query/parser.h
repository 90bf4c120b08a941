// From the text of a cluster query expression to its parsed form.
//   expr    := expr ("||" | "or") expr | expr ("&&" | "and") expr | ("!" | "not") expr
//            | "(" expr ")" | simple
//   simple  := subject ( comparison literal | ("in" | "!in" | "not_in") list
//            | ("=~" | "matches" | "!~" | "not_matches") pattern | "exists" | "!exists" ... )
// The guide leaves the precedence of "and" and "or" open: here "not" binds tightest, then "and",
// then "or", each from the left, and mixing the last two without parentheses sets a warning.
#pragma once

#include <string_view>

#include "base/result.h"
#include "placement/query/ast.h"

namespace placement::query {

// Source: ECS API reference, PlacementConstraint, expression: "The expression can have a maximum
// length of 2000 characters".
inline constexpr size_t max_expression_length = 2000;

// Pure. Errors: InvalidParameterException naming the character (from 1) and what was expected.
base::Result<Expression> parse(std::string_view text);

}  // namespace placement::query
