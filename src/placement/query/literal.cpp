#include "placement/query/literal.h"

#include <charconv>
#include <optional>
#include <utility>

#include "base/format.h"
#include "base/text.h"

namespace placement::query {
namespace {

constexpr std::string_view code = "InvalidParameterException";

bool is_comparison(Operator op) {
  switch (op) {
    case Operator::Equals:
    case Operator::NotEquals:
    case Operator::Greater:
    case Operator::GreaterEqual:
    case Operator::Less:
    case Operator::LessEqual:
      return true;
    default:
      return false;
  }
}

bool is_membership(Operator op) {
  switch (op) {
    case Operator::Equals:
    case Operator::NotEquals:
    case Operator::In:
    case Operator::NotIn:
    case Operator::Matches:
    case Operator::NotMatches:
      return true;
    default:
      return false;
  }
}

base::Result<void> read_version(Literal& literal) {
  literal.version = parse_version(literal.text);
  for (const char c : literal.text) {
    if (c != '.' && (c < '0' || c > '9')) literal.version.clear();
  }
  if (!literal.version.empty()) return {};
  return base::fail(std::string(code),
                    base::format("expected a version such as 1.14.5, found '{}'", literal.text));
}

base::Result<void> read_time(Literal& literal) {
  std::optional<base::Time> time = base::parse_rfc3339(literal.text);
  if (!time) time = base::parse_rfc3339(literal.text + "Z");
  if (!time) {
    return base::fail(
        std::string(code),
        base::format("expected a time such as 2018-06-18T22:28:28+00:00 or a date such as "
                     "2018-06-18, found '{}'",
                     literal.text));
  }
  literal.time = *time;
  literal.whole_seconds = literal.text.find('.') == std::string::npos;
  return {};
}

base::Result<void> read_number(Literal& literal) {
  const auto number = base::parse_number<decltype(literal.number)>(literal.text);
  literal.number = number.value_or(literal.number);
  if (number) return {};
  return base::fail(std::string(code),
                    base::format("expected a whole number, found '{}'", literal.text));
}

}  // namespace

bool takes(Subject subject, Operator op) {
  switch (subject) {
    case Subject::Attribute:
      return true;
    case Subject::TaskGroup:
    case Subject::AgentConnected:
    case Subject::Ec2InstanceId:
      return is_membership(op);
    case Subject::AgentVersion:
    case Subject::RegisteredAt:
    case Subject::RunningTasksCount:
      return is_comparison(op);
  }
  return false;
}

std::string operators_of(Subject subject) {
  if (subject == Subject::Attribute) {
    return "==, !=, >, >=, <, <=, in, !in, =~, !~, exists, !exists";
  }
  return takes(subject, Operator::In) ? "==, !=, in, !in, =~, !~" : "==, !=, >, >=, <, <=";
}

std::string subject_name(const Simple& simple) {
  switch (simple.subject) {
    case Subject::Attribute:
      return "attribute:" + simple.attribute;
    case Subject::TaskGroup:
      return "task:group";
    case Subject::AgentConnected:
      return "agentConnected";
    case Subject::AgentVersion:
      return "agentVersion";
    case Subject::Ec2InstanceId:
      return "ec2InstanceId";
    case Subject::RegisteredAt:
      return "registeredAt";
    case Subject::RunningTasksCount:
      return "runningTasksCount";
  }
  return "";
}

base::Result<Literal> read_literal(Subject subject, std::string text) {
  Literal literal;
  literal.text = std::move(text);
  switch (subject) {
    case Subject::AgentVersion:
      TRY_VOID(read_version(literal));
      break;
    case Subject::RegisteredAt:
      TRY_VOID(read_time(literal));
      break;
    case Subject::RunningTasksCount:
      TRY_VOID(read_number(literal));
      break;
    case Subject::AgentConnected:
      if (literal.text != "true" && literal.text != "false") {
        return base::fail(std::string(code),
                          base::format("expected true or false, found '{}'", literal.text));
      }
      break;
    case Subject::Attribute:
    case Subject::TaskGroup:
    case Subject::Ec2InstanceId:
      break;
  }
  return literal;
}

base::Result<std::unique_ptr<re2::RE2>> compile_pattern(const std::string& text) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(1 << 20);
  auto pattern = std::make_unique<re2::RE2>(text, options);
  if (pattern->ok()) return pattern;
  std::string hint;
  switch (pattern->error_code()) {
    case re2::RE2::ErrorBadPerlOp:
    case re2::RE2::ErrorBadEscape:
    case re2::RE2::ErrorRepeatOp:
    case re2::RE2::ErrorBadNamedCapture:
      hint =
          "; look-around, back-references and possessive quantifiers are not supported, because "
          "patterns are matched in linear time (RE2 syntax)";
      break;
    case re2::RE2::ErrorPatternTooLarge:
      hint = "; it needs too much memory when compiled";
      break;
    default:
      break;
  }
  return base::fail(std::string(code), base::format("'{}' is not a regular expression that can be "
                                                    "used here: {}{}",
                                                    text, pattern->error(), hint));
}

std::vector<uint64_t> parse_version(std::string_view text) {
  std::vector<uint64_t> components;
  if (text.starts_with('v')) text.remove_prefix(1);
  while (!text.empty()) {
    uint64_t number = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return components;
    components.push_back(number);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    if (!text.starts_with('.')) return components;
    text.remove_prefix(1);
  }
  return components;
}

}  // namespace placement::query
