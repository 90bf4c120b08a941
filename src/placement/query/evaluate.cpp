#include "placement/query/evaluate.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <optional>

#include "base/text.h"
#include "placement/query/literal.h"

namespace placement::query {
namespace {

std::optional<double> number_of(std::string_view text) {
  const auto value = base::parse_number<double>(text);
  return value && std::isnan(*value) ? std::nullopt : value;
}

std::partial_ordering compare_texts(std::string_view left, std::string_view right) {
  const std::optional<double> left_number = number_of(left);
  const std::optional<double> right_number = number_of(right);
  if (left_number && right_number) return *left_number <=> *right_number;
  return left <=> right;
}

// Missing components count as 0: 1.14 equals 1.14.0.
std::partial_ordering compare_versions(const std::vector<uint64_t>& left,
                                       const std::vector<uint64_t>& right) {
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const uint64_t a = i < left.size() ? left[i] : 0;
    const uint64_t b = i < right.size() ? right[i] : 0;
    if (a != b) return a <=> b;
  }
  return std::partial_ordering::equivalent;
}

bool answers(Operator op, std::partial_ordering ordering) {
  switch (op) {
    case Operator::Equals:
      return ordering == 0;
    case Operator::NotEquals:
      return ordering != 0;
    case Operator::Greater:
      return ordering > 0;
    case Operator::GreaterEqual:
      return ordering >= 0;
    case Operator::Less:
      return ordering < 0;
    case Operator::LessEqual:
      return ordering <= 0;
    default:
      return false;
  }
}

bool is_negative(Operator op) {
  return op == Operator::NotEquals || op == Operator::NotIn || op == Operator::NotMatches ||
         op == Operator::NotExists;
}

// The positive question behind a text's operator: "!=" asks what "==" asks.
bool text_answers(const Simple& simple, std::string_view value) {
  switch (simple.op) {
    case Operator::Equals:
    case Operator::NotEquals:
    case Operator::In:
    case Operator::NotIn:
      return std::ranges::any_of(simple.arguments,
                                 [&](const Literal& literal) { return literal.text == value; });
    case Operator::Matches:
    case Operator::NotMatches:
      return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *simple.pattern);
    case Operator::Exists:
    case Operator::NotExists:
      return true;
    case Operator::Greater:
    case Operator::GreaterEqual:
    case Operator::Less:
    case Operator::LessEqual:
      return answers(simple.op, compare_texts(value, simple.arguments[0].text));
  }
  return false;
}

bool holds_for_text(const Simple& simple, std::string_view value) {
  return text_answers(simple, value) != is_negative(simple.op);
}

bool holds_for_time(const Simple& simple, base::Time time) {
  const Literal& literal = simple.arguments[0];
  if (literal.whole_seconds) time = std::chrono::floor<std::chrono::seconds>(time);
  return answers(simple.op, time <=> literal.time);
}

bool holds_simple(const Simple& simple, const Facts& facts) {
  switch (simple.subject) {
    case Subject::Attribute: {
      const auto found = facts.attributes.find(simple.attribute);
      if (found == facts.attributes.end()) return is_negative(simple.op);
      return holds_for_text(simple, found->second);
    }
    case Subject::TaskGroup: {
      const bool any = std::ranges::any_of(
          facts.task_groups, [&](const std::string& group) { return text_answers(simple, group); });
      return any != is_negative(simple.op);
    }
    case Subject::AgentConnected:
      return holds_for_text(simple, facts.agent_connected ? "true" : "false");
    case Subject::Ec2InstanceId:
      return holds_for_text(simple, facts.ec2_instance_id);
    case Subject::AgentVersion: {
      const std::vector<uint64_t> version = parse_version(facts.agent_version);
      if (version.empty()) return is_negative(simple.op);
      return answers(simple.op, compare_versions(version, simple.arguments[0].version));
    }
    case Subject::RegisteredAt:
      return holds_for_time(simple, facts.registered_at);
    case Subject::RunningTasksCount:
      return answers(simple.op, facts.running_tasks <=> simple.arguments[0].number);
  }
  return false;
}

bool holds_node(const Expression& expression, uint32_t index, const Facts& facts) {
  const Node& node = expression.nodes[index];
  switch (node.kind) {
    case NodeKind::Simple:
      return holds_simple(expression.simples[node.left], facts);
    case NodeKind::Not:
      return !holds_node(expression, node.left, facts);
    case NodeKind::And:
      return holds_node(expression, node.left, facts) && holds_node(expression, node.right, facts);
    case NodeKind::Or:
      return holds_node(expression, node.left, facts) || holds_node(expression, node.right, facts);
  }
  return false;
}

}  // namespace

bool holds(const Expression& expression, const Facts& facts) {
  return holds_node(expression, static_cast<uint32_t>(expression.nodes.size() - 1), facts);
}

}  // namespace placement::query
