// The parsed form of a cluster query expression.
// Source: ECS Developer Guide, "Create expressions to define container instances for Amazon ECS
// tasks" (the cluster query language).
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.h"

namespace placement::query {

enum class Subject : uint8_t {
  Attribute,  // "attribute:<name>"; may be absent.
  TaskGroup,  // "task:group": the groups of all tasks on the instance.
  AgentConnected,
  AgentVersion,
  Ec2InstanceId,
  RegisteredAt,
  RunningTasksCount,
};

enum class Operator : uint8_t {
  Equals,
  NotEquals,
  Greater,
  GreaterEqual,
  Less,
  LessEqual,
  In,
  NotIn,
  Matches,
  NotMatches,
  Exists,
  NotExists,
};

// The argument, read once as the subject's type asks. Only the member of that type is set.
struct Literal {
  std::string text;
  std::vector<uint64_t> version;  // AgentVersion: components.
  base::Time time;                // RegisteredAt.
  bool whole_seconds = false;     // RegisteredAt: written without a fraction of a second.
  int64_t number = 0;             // RunningTasksCount.
};

// "subject operator [argument]".
struct Simple {
  Subject subject = Subject::Attribute;
  std::string attribute;  // Attribute: its name.
  Operator op = Operator::Equals;
  std::vector<Literal> arguments;     // One, several for In and NotIn, none for Exists.
  std::unique_ptr<re2::RE2> pattern;  // Matches and NotMatches.
};

enum class NodeKind : uint8_t { Simple, Not, And, Or };

// Children come before their parents in Expression::nodes; the root is the last node.
struct Node {
  NodeKind kind = NodeKind::Simple;
  uint32_t left = 0;   // Simple: index into Expression::simples. Else: index into nodes.
  uint32_t right = 0;  // And, Or: index into nodes.
};

// Movable, not copyable: compiled patterns are not shared.
struct Expression {
  std::vector<Simple> simples;
  std::vector<Node> nodes;
  bool reads_tasks = false;  // Its value changes as tasks come and go.
  std::string warning;       // One sentence when "and" and "or" are mixed without parentheses.
};

}  // namespace placement::query
