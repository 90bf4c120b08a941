// Machines that go: surplus, lost, silent and broken ones, as transcripts.
#include <gmock/gmock.h>

#include "control/capacity/groups/testing_machines.h"

namespace control {
namespace {

using model::MachineState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST_F(Machines, a_surplus_machine_drains_then_ends_and_its_instance_goes) {
  desire(2);
  run();
  define();
  const std::string task = start_task("i-1");
  const std::string other = start_task("i-2");
  plane.report(task, "RUNNING");
  plane.report(other, "RUNNING");
  desire(1);
  run();
  EXPECT_THAT(states(), ElementsAre(MachineState::Terminating, MachineState::InService));
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Draining);
  EXPECT_EQ(instance("i-2").status, model::InstanceStatus::Active);
  EXPECT_THAT(activities()[0].description, HasSubstr("Terminating EC2 instance: i-1"));
  EXPECT_THAT(activities()[0].cause, HasSubstr("shrinking the capacity from 2 to 1"));
  EXPECT_THAT(activities()[0].cause, HasSubstr("instance i-1 was selected for termination."));
  run(std::chrono::hours(1));
  EXPECT_THAT(terminated, IsEmpty());
  plane.report(task, "STOPPED", 0);
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Inactive);
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  EXPECT_EQ(activities()[0].status, "Successful");
}

TEST_F(Machines, what_is_left_after_the_bound_is_given_up_with_its_machine) {
  desire(1);
  run();
  define();
  const std::string task = start_task("i-1");
  plane.report(task, "RUNNING");
  desire(0);
  run(std::chrono::hours(48) + std::chrono::minutes(10));
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(plane.describe(task).last_status, "STOPPED");
  EXPECT_THAT(*plane.describe(task).stopped_reason, HasSubstr("terminated"));
}

TEST_F(Machines, managed_draining_can_be_switched_off) {
  alter([](model::ClusterState& state) {
    model::CapacityProvider provider = state.capacity_providers.at("pool");
    provider.group.managed_draining = api::ecs::ManagedDraining::Disabled;
    apply(state, model::CapacityProviderPut{provider});
  });
  desire(1);
  run();
  define();
  plane.report(start_task("i-1"), "RUNNING");
  desire(0);
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1"));
}

TEST_F(Machines, a_machine_that_cannot_be_ended_is_tried_again_and_says_why) {
  desire(1);
  run();
  desire(0);
  pass();
  ASSERT_THAT(orders, SizeIs(1));
  orders.clear();
  report(MachineNotTerminated{"i-1", "it is locked"});
  EXPECT_EQ(activities()[0].status, "InProgress");
  EXPECT_EQ(activities()[0].status_message, "it is locked");
  pass(std::chrono::seconds(29));
  EXPECT_THAT(orders, IsEmpty());
  run(std::chrono::seconds(2));
  EXPECT_THAT(terminated, ElementsAre("i-1"));
}

TEST_F(Machines, a_machine_that_its_provider_has_lost_is_replaced_unless_its_agent_is_there) {
  desire(1);
  run();
  run(std::chrono::minutes(2));
  report(MachinesListed{plane.now, {}});
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
  alter([&](model::ClusterState& state) {
    apply(state,
          model::AgentConnectionChanged{state.instances.begin()->first, false, {}, plane.now});
  });
  Settings impatient;
  impatient.connect_grace = base::Milliseconds(0);
  plane.core = Core(plane.core.state(), impatient, ++plane.reseed, plane.now);
  pass();
  report(MachinesListed{plane.now, {}});
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Inactive);
  pass();
  EXPECT_THAT(states(), ElementsAre(MachineState::Wanted));
  EXPECT_THAT(activities()[1].cause, HasSubstr("does not list it any more"));
}

TEST_F(Machines, a_machine_whose_agent_stays_away_is_replaced) {
  desire(1);
  run();
  plane.core = Core(plane.core.state(), Settings{}, ++plane.reseed, plane.now);
  run(std::chrono::minutes(12));
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(launched, 2);
  bool told = false;
  for (const model::ScalingActivity& one : activities()) {
    told = told || one.cause.find("its agent stays away") != std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(Machines, a_deregistered_instance_takes_its_machine_along) {
  desire(1);
  run();
  api::ecs::DeregisterContainerInstanceRequest request;
  request.container_instance = instance("i-1").arn.str();
  ASSERT_TRUE((plane
                   .call<api::ecs::DeregisterContainerInstanceResponse>(
                       "DeregisterContainerInstance", request)
                   .has_value()));
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1"));
  EXPECT_EQ(launched, 2);
}

TEST_F(Machines, a_machine_that_never_joins_is_ended_and_counts_as_a_failed_launch) {
  desire(1);
  pass();
  report(MachineLaunched{next_launch().token, "i-1"});
  pass(std::chrono::minutes(14));
  EXPECT_THAT(states(), ElementsAre(MachineState::Pending));
  pass(std::chrono::minutes(1));
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(std::get<TerminateMachine>(orders[0]).id, "i-1");
  EXPECT_EQ(group().launch_failures, 1);
  pass(std::chrono::seconds(6));
  ASSERT_THAT(orders, SizeIs(2));
  EXPECT_TRUE(std::holds_alternative<LaunchMachine>(orders[1]));
}

TEST_F(Machines, a_machine_that_turns_up_drains_before_it_ends_and_takes_its_instance_along) {
  define();
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  report(MachineNotLaunched{order.token, "no answer"});
  plane.register_instance("p3.8xlarge", "1");
  const std::string task = start_task("i-1");
  plane.report(task, "RUNNING");
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  EXPECT_THAT(orders, IsEmpty());
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Draining);
  EXPECT_THAT(states(), ElementsAre(MachineState::Terminating));
  plane.report(task, "STOPPED", 0);
  pass(std::chrono::minutes(1));
  const auto ends = std::ranges::find_if(
      orders, [](const auto& one) { return std::holds_alternative<TerminateMachine>(one); });
  ASSERT_NE(ends, orders.end());
  EXPECT_EQ(std::get<TerminateMachine>(*ends).id, "i-1");
  // Ended, and the answer was lost.
  report(MachineNotTerminated{"i-1", "no answer"});
  alter([&](model::ClusterState& state) {
    apply(state,
          model::AgentConnectionChanged{state.instances.begin()->first, false, {}, plane.now});
  });
  Settings impatient;
  impatient.connect_grace = base::Milliseconds(0);
  plane.core = Core(plane.core.state(), impatient, ++plane.reseed, plane.now);
  pass(std::chrono::minutes(2));
  report(MachinesListed{plane.now, {}});
  EXPECT_EQ(instance("i-1").status, model::InstanceStatus::Inactive);
}

TEST_F(Machines, a_deleted_group_is_kept_until_a_list_shows_whether_a_failed_launch_was_one) {
  desire(1);
  pass();
  const LaunchMachine order = next_launch();
  report(MachineNotLaunched{order.token, "no answer"});
  alter_group([](model::AutoScalingGroup& altered) {
    altered.deleting = true;
    altered.desired_capacity = 0;
  });
  report(MachinesListed{plane.now, {}});
  pass(std::chrono::minutes(1));
  ASSERT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"))
      << "the list may have been too early";
  report(MachinesListed{plane.now, {{order.token, "i-1"}}});
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(std::get<TerminateMachine>(orders[0]).id, "i-1");
  report(MachineTerminated{"i-1"});
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

// What the process before had launched, and whether that failed, died with it.
TEST_F(Machines, a_deleted_group_without_machines_outlives_a_restart_until_a_list_that_can_tell) {
  alter_group([](model::AutoScalingGroup& altered) { altered.deleting = true; });
  const base::Time restarted = plane.now;
  pass(std::chrono::seconds(30));
  ASSERT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"));
  report(MachinesListed{restarted + std::chrono::seconds(59), {}});
  pass(std::chrono::minutes(10));
  ASSERT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"))
      << "a machine launched just before the restart may not have been listed yet";
  report(MachinesListed{restarted + std::chrono::minutes(1), {}});
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

TEST_F(Machines, a_deleted_group_without_machines_goes_after_a_restart_where_nobody_lists) {
  alter_group([](model::AutoScalingGroup& altered) { altered.deleting = true; });
  pass(std::chrono::minutes(4));
  EXPECT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"));
  restart();
  pass(std::chrono::minutes(4));
  EXPECT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"))
      << "each process waits for itself";
  pass(std::chrono::minutes(2));
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

TEST_F(Machines, a_machine_that_a_list_shows_after_a_restart_ends_before_its_deleted_group_goes) {
  alter_group([](model::AutoScalingGroup& altered) { altered.deleting = true; });
  const base::Time restarted = plane.now;
  pass(std::chrono::minutes(1));
  report(
      MachinesListed{restarted + std::chrono::minutes(1), {{"group-1-0123456789abcdef", "i-1"}}});
  ASSERT_THAT(orders, SizeIs(1));
  EXPECT_EQ(std::get<TerminateMachine>(orders[0]).id, "i-1");
  EXPECT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"));
  report(MachineTerminated{"i-1"});
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

TEST_F(Machines, a_deleted_group_without_a_provider_that_lists_goes_after_a_while) {
  desire(1);
  pass();
  report(MachineNotLaunched{next_launch().token, "there is no machine provider"});
  alter_group([](model::AutoScalingGroup& altered) {
    altered.deleting = true;
    altered.desired_capacity = 0;
  });
  pass(std::chrono::minutes(4));
  EXPECT_TRUE(plane.core.state().auto_scaling_groups.contains("gpus"));
  pass(std::chrono::minutes(2));
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

}  // namespace
}  // namespace control
