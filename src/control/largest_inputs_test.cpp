// An operation whose work grows with what a caller sends, without a bound, stops everybody else:
// each has a largest legal input here, and a new one without it fails.
#include <gtest/gtest.h>

#include <set>
#include <span>

#include "control/autoscaling/actions/actions.h"
#include "control/ec2/actions/actions.h"
#include "control/ecs/actions/actions.h"
#include "control/testing_largest_inputs.h"

namespace control {
namespace {

using testing::LargestInput;
using testing::LargeWorld;

// What a call and the second after it may write: services start their tasks by so many at a time.
constexpr size_t most_changes = 6'000;
constexpr size_t most_changes_a_step = 600;

// Those that name what the world has not: they end at once, by name.
const std::set<std::string_view> answered_by_name{"ContinueServiceDeployment",
                                                  "CreateTags",
                                                  "DeleteAccountSetting",
                                                  "DescribeServiceDeployments",
                                                  "DescribeServiceRevisions",
                                                  "ListServicesByNamespace",
                                                  "PutAccountSetting",
                                                  "PutAccountSettingDefault",
                                                  "SetInstanceProtection",
                                                  "StopServiceDeployment",
                                                  "TerminateInstanceInAutoScalingGroup",
                                                  "UpdateServicePrimaryTaskSet",
                                                  "UpdateTaskSet",
                                                  "UpdateContainerAgent"};

// Those that end all tasks of one machine, which are as many as it has room for.
const std::set<std::string_view> end_a_machine{"DeregisterContainerInstance"};

TEST(LargestInputs, every_operation_has_one) {
  std::set<std::string_view> measured;
  for (const LargestInput& one : testing::largest_inputs()) measured.insert(one.operation);
  for (const std::span<const Action> offered :
       {ecs::operations(), autoscaling::operations(), ec2::operations()}) {
    for (const Action& action : offered) {
      EXPECT_TRUE(measured.contains(action.operation)) << action.operation;
    }
  }
}

TEST(LargestInputs, each_is_legal_and_writes_no_more_than_a_bound) {
  LargeWorld world({});
  for (const LargestInput& one : testing::largest_inputs()) {
    const std::string input = one.input(world, 0);
    EXPECT_LT(input.size(), size_t{6} << 20) << one.operation;
    const LargeWorld::Called called = world.call(one.service, one.operation, input);
    if (!answered_by_name.contains(one.operation)) {
      EXPECT_TRUE(called.answer) << one.operation << ": "
                                 << (called.answer ? "" : called.answer.error().message);
    }
    EXPECT_LT(called.changes, most_changes) << one.operation;
    if (!end_a_machine.contains(one.operation)) {
      EXPECT_LT(called.most_changes_a_step, most_changes_a_step) << one.operation;
    }
  }
}

TEST(LargestInputs, a_task_definition_has_the_bound_that_aws_gives_it) {
  LargeWorld world({});
  const LargeWorld::Called called = world.call(
      "ecs", "RegisterTaskDefinition",
      base::format(R"({{"family":"f","containerDefinitions":[{{"name":"main","image":"i","memory":4,
                       "environment":[{{"name":"a","value":"{}"}}]}}]}})",
                   std::string(66'000, 'x')));
  ASSERT_FALSE(called.answer);
  EXPECT_EQ(called.answer.error().code, "ClientException");
  EXPECT_NE(called.answer.error().message.find("Max allowed length is '65536' bytes"),
            std::string::npos);
}

}  // namespace
}  // namespace control
