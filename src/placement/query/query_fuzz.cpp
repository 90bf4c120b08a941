// Any text as a cluster query expression: it is refused with a character and a reason, or it holds
// or does not for any instance, and its negation says the contrary.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/result.h"
#include "placement/query/evaluate.h"
#include "placement/query/parser.h"

namespace {

using placement::query::Expression;
using placement::query::Facts;

const std::map<std::string, std::string>& attributes() {
  static const std::map<std::string, std::string> some = {
      {"ecs.instance-type", "g2.2xlarge"}, {"rack", "9"}, {"flag", ""}, {"berth.gpu-count", "8"}};
  return some;
}

bool holds_for(const Expression& expression, bool full) {
  static const std::map<std::string, std::string> none;
  static const std::string groups[] = {"service:production", "family:train"};
  return placement::query::holds(
      expression,
      {.attributes = full ? attributes() : none,
       .task_groups = full ? std::span<const std::string>(groups) : std::span<const std::string>(),
       .agent_connected = full,
       .agent_version = full ? "1.14.5" : "",
       .ec2_instance_id = full ? "i-abcd1234" : "",
       .registered_at = base::Time(base::Milliseconds(full ? 1'529'360'908'250 : 0)),
       .running_tasks = full ? 3 : 0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const base::Result<Expression> expression = placement::query::parse(text);
  if (!expression) {
    CHECK(expression.error().code == "InvalidParameterException");
    CHECK(!expression.error().message.empty());
    return 0;
  }
  // The blank ends a bare pattern. The negation may be too long or too deep.
  const base::Result<Expression> negated = placement::query::parse(base::format("not({} )", text));
  for (const bool full : {false, true}) {
    const bool answer = holds_for(*expression, full);
    if (negated) CHECK(holds_for(*negated, full) != answer);
  }
  return 0;
}
