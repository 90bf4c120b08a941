// Whether a cluster query expression holds for one container instance.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/time.h"
#include "placement/query/ast.h"

namespace placement::query {

// What an expression can ask about one container instance. Borrowed for the call.
struct Facts {
  const std::map<std::string, std::string>& attributes;
  std::span<const std::string> task_groups;  // Of its tasks; only read when reads_tasks is set.
  bool agent_connected = false;
  std::string_view agent_version;
  std::string_view ec2_instance_id;
  base::Time registered_at;
  int64_t running_tasks = 0;
};

// An attribute or a version that is not there answers no to every positive question (==, in, <, =~,
// exists) and yes to every negative one (!=, !in, !~, !exists). Ordering operators on attributes
// compare numbers when both sides are numbers, else texts. "=~" asks for a match of the whole
// value. "task:group == g" holds when any task on the instance is of that group, "!=" when none is.
// Pure. Cost: O(length of the expression and of the values).
bool holds(const Expression& expression, const Facts& facts);

}  // namespace placement::query
