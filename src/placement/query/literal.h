// What each subject of the cluster query language can be asked, and how its values are written.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "placement/query/ast.h"

namespace placement::query {

bool takes(Subject subject, Operator op);
// "==, !=, in, ...": for messages.
std::string operators_of(Subject subject);
// "attribute:x" or "agentVersion", as it is written.
std::string subject_name(const Simple& simple);

// Reads a value as the subject's type. The error's message is a phrase without an end stop.
base::Result<Literal> read_literal(Subject subject, std::string text);

// Patterns match in time linear in the value, so what cannot (look-around, back-references) is
// refused. The error's message is a phrase without an end stop.
base::Result<std::unique_ptr<re2::RE2>> compile_pattern(const std::string& text);

// The numbers of a dotted version, "v1.14.5-beta" too; empty when it does not begin with one.
std::vector<uint64_t> parse_version(std::string_view text);

}  // namespace placement::query
