// Machines that come: orders, answers and what is lost between them, as transcripts.
#include <gmock/gmock.h>

#include "control/capacity/groups/testing_machines.h"

namespace control {
namespace {

using model::MachineState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST_F(Machines, a_machine_is_ordered_launched_and_in_service_once_its_agent_has_registered) {
  desire(1);
  pass();
  ASSERT_THAT(orders, SizeIs(1));
  const LaunchMachine order = next_launch();
  EXPECT_EQ(order.group, "gpus");
  EXPECT_THAT(order.token, StartsWith("group-1-"));
  EXPECT_EQ(order.instance_type, "p3.8xlarge");
  EXPECT_EQ(order.user_data, "the user data");
  EXPECT_EQ(order.tags, (std::map<std::string, std::string>{{"team", "vision"}}));
  EXPECT_FALSE(order.again);
  EXPECT_THAT(states(), ElementsAre(MachineState::Wanted));
  EXPECT_EQ(activities()[0].status, "InProgress");
  EXPECT_THAT(activities()[0].cause, HasSubstr("increasing the capacity from 0 to 1."));

  report(MachineLaunched{order.token, "i-1"});
  EXPECT_THAT(states(), ElementsAre(MachineState::Pending));
  EXPECT_EQ(activities()[0].description, "Launching a new EC2 instance: i-1");
  EXPECT_EQ(provider_of_machine(plane.core.state(), "i-1"), "pool");
  EXPECT_EQ(provider_of_machine(plane.core.state(), "i-2"), "");

  plane.register_instance("p3.8xlarge", "1");
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(instance("i-1").capacity_provider, "pool");
  EXPECT_EQ(activities()[0].status, "Successful");
  EXPECT_EQ(group().machines[0].availability_zone, "us-east-1a");
  pass(std::chrono::minutes(10));  // Managed scaling wants 15 points before it ends an idle one.
  EXPECT_THAT(orders, IsEmpty());
}

TEST_F(Machines, an_agent_may_be_faster_than_the_provider_s_answer) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  plane.register_instance("p3.8xlarge", "1");
  EXPECT_EQ(instance("i-1").capacity_provider, "");
  report(MachineLaunched{order.token, "i-1"});
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(instance("i-1").capacity_provider, "pool");
  EXPECT_TRUE(instance("i-1").agent_connected);
}

TEST_F(Machines, a_launch_that_fails_says_why_and_is_tried_again_later_and_later) {
  desire(1);
  std::vector<base::Time> tried;
  for (int i = 0; i < 4; ++i) {
    while (orders.empty()) pass(base::Milliseconds(100));
    tried.push_back(plane.now);
    report(MachineNotLaunched{next_launch().token, "no capacity in rack 7"});
    EXPECT_THAT(group().machines, IsEmpty());
  }
  EXPECT_EQ(activities()[0].status, "Failed");
  EXPECT_EQ(activities()[0].status_message, "no capacity in rack 7");
  EXPECT_THAT(activities()[0].description, HasSubstr("Status Reason: no capacity in rack 7"));
  const auto close_to = [](base::Milliseconds gap, int seconds) {
    return gap >= std::chrono::seconds(seconds) && gap < std::chrono::seconds(seconds + 1);
  };
  EXPECT_TRUE(close_to(tried[1] - tried[0], 5));
  EXPECT_TRUE(close_to(tried[2] - tried[1], 10));
  EXPECT_TRUE(close_to(tried[3] - tried[2], 20));
  run(std::chrono::minutes(1));
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(group().launch_failures, 0);
}

TEST_F(Machines, after_a_restart_an_unanswered_launch_is_ordered_again_with_the_same_token) {
  desire(1);
  pass();
  const LaunchMachine first = next_launch();
  restart();
  pass();
  const LaunchMachine second = next_launch();
  EXPECT_EQ(second.token, first.token);
  EXPECT_TRUE(second.again);
  report(MachineLaunched{second.token, "i-1"});
  report(MachineLaunched{first.token, "i-1"});
  EXPECT_THAT(group().machines, SizeIs(1));
  pass(std::chrono::minutes(1));
  EXPECT_THAT(orders, IsEmpty());
}

TEST_F(Machines, a_launch_whose_answer_was_lost_is_found_in_the_list) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  restart();
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  EXPECT_EQ(group().machines[0].id, "i-1");
  EXPECT_THAT(states(), ElementsAre(MachineState::Pending));
}

TEST_F(Machines, a_machine_that_no_record_knows_is_ended_and_others_are_left_alone) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  report(MachineNotLaunched{order.token, "timeout"});
  report(MachinesListed{plane.now, {{order.token, "i-1"}, {"somebody-else", "i-9"}}});
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(std::get<TerminateMachine>(orders[0]).id, "i-1");
  // It is ordered once until it is answered.
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  EXPECT_THAT(orders, SizeIs(1));
  report(MachineNotTerminated{"i-1", "stuck"});
  pass(std::chrono::seconds(31));
  const auto again = std::ranges::count_if(
      orders, [](const auto& one) { return std::holds_alternative<TerminateMachine>(one); });
  EXPECT_EQ(again, 2);
}

TEST_F(Machines, an_answer_with_the_id_of_another_machine_is_a_failure) {
  desire(2);
  pass();
  report(MachineLaunched{next_launch().token, "i-1"});
  report(MachineLaunched{next_launch().token, "i-1"});
  EXPECT_THAT(group().machines, SizeIs(1));
  EXPECT_THAT(activities()[0].status_message, HasSubstr("that of another machine"));
}

}  // namespace
}  // namespace control
