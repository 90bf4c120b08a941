#include "reconcile/machines/group_policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconcile/machines/termination.h"
#include "reconcile/machines/testing_group.h"

namespace reconcile::machines {
namespace {

using model::MachineState;
using ::testing::ElementsAre;
using testing::GroupWorld;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(GroupKeeper, launches_up_to_the_desired_capacity_and_spreads_over_zones) {
  GroupWorld world;
  world.group.availability_zones = {"a", "b"};
  world.group.desired_capacity = 4;
  world.run();
  EXPECT_THAT(world.in_service(), SizeIs(4));
  EXPECT_EQ(std::ranges::count(world.group.machines, "a", &model::Machine::availability_zone), 2);
  EXPECT_FALSE(world.pass());
}

TEST(GroupKeeper, keeps_within_its_bounds_whatever_is_desired) {
  GroupWorld world;
  world.group.min_size = 1;
  world.group.max_size = 3;
  world.group.desired_capacity = 9;
  world.run();
  EXPECT_EQ(world.alive(), 3);
  world.group.desired_capacity = 0;
  world.run();
  EXPECT_EQ(world.alive(), 1);
}

TEST(GroupKeeper, ends_what_has_not_joined_yet_then_empty_machines_then_others) {
  GroupWorld world;
  world.group.desired_capacity = 3;
  world.run();
  world.tasks["m001"] = 1;
  world.tasks["m002"] = 1;
  world.group.desired_capacity = 4;
  world.pass();
  world.group.desired_capacity = 1;
  world.pass();
  EXPECT_EQ(world.machine("m004").state, MachineState::Terminating);
  EXPECT_EQ(world.machine("m003").state, MachineState::Terminating);
  EXPECT_EQ(world.machine("m001").state, MachineState::Terminating);
  EXPECT_EQ(world.machine("m002").state, MachineState::InService);
}

TEST(GroupKeeper, ends_the_oldest_launch_configuration_first) {
  GroupWorld world;
  world.group.desired_capacity = 2;
  world.source_made_at = {{"first", testing::start_time},
                          {"bigger", testing::start_time + std::chrono::hours(1)}};
  world.run();
  world.launch_name = "bigger";
  world.group.desired_capacity = 4;
  world.run();
  world.group.desired_capacity = 2;
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001", "m002"));
}

TEST(GroupKeeper, follows_the_termination_policies) {
  for (const auto& [policy, goes] :
       std::map<std::string, std::string>{{"OldestInstance", "m001"},
                                          {"NewestInstance", "m003"},
                                          // m002 is 50 minutes old, the others 90 and 10.
                                          {"ClosestToNextInstanceHour", "m002"}}) {
    GroupWorld world;
    world.group.termination_policies = {policy};
    for (const int minutes : {90, 50, 10}) {
      ++world.group.desired_capacity;
      world.now = testing::start_time - std::chrono::minutes(minutes);
      world.run();
    }
    world.now = testing::start_time;
    world.group.desired_capacity = 2;
    world.run();
    EXPECT_THAT(world.ended, ElementsAre(goes)) << policy;
  }
}

TEST(GroupKeeper, a_protected_machine_stays) {
  GroupWorld world;
  world.group.desired_capacity = 2;
  world.run();
  world.machine("m001").scale_in_protected = true;
  world.group.desired_capacity = 0;
  world.run();
  EXPECT_THAT(world.in_service(), ElementsAre("m001"));
}

TEST(GroupKeeper, managed_termination_protection_keeps_machines_with_tasks) {
  GroupWorld world;
  world.protects_busy = true;
  world.group.desired_capacity = 3;
  world.run();
  world.tasks["m002"] = 1;
  world.group.desired_capacity = 0;
  world.run();
  EXPECT_THAT(world.in_service(), ElementsAre("m002"));
  world.tasks["m002"] = 0;
  world.run();
  EXPECT_THAT(world.in_service(), IsEmpty());
}

TEST(GroupKeeper, tasks_are_given_time_before_their_machine_ends) {
  GroupWorld world;
  world.group.desired_capacity = 1;
  world.run();
  world.tasks["m001"] = 1;
  world.group.desired_capacity = 0;
  world.run();
  EXPECT_EQ(world.machine("m001").state, MachineState::Terminating);
  EXPECT_EQ(world.wake, world.now + std::chrono::hours(48));
  world.now += std::chrono::hours(47);
  world.run();
  EXPECT_THAT(world.ended, IsEmpty());
  world.tasks["m001"] = 0;
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001"));
}

TEST(GroupKeeper, a_task_that_never_ends_does_not_keep_its_machine_for_ever) {
  GroupWorld world;
  world.group.desired_capacity = 1;
  world.run();
  world.tasks["m001"] = 1;
  world.group.desired_capacity = 0;
  world.run();
  world.now = world.wake;
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001"));
}

TEST(GroupKeeper, without_managed_draining_a_machine_ends_at_once) {
  GroupWorld world;
  world.drains = false;
  world.group.desired_capacity = 1;
  world.run();
  world.tasks["m001"] = 1;
  world.group.desired_capacity = 0;
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001"));
}

TEST(GroupKeeper, a_machine_whose_agent_stays_away_is_replaced) {
  GroupWorld world;
  world.group.desired_capacity = 1;
  world.run();
  world.instances["m001"].agent_connected = false;
  world.instances["m001"].connected_changed_at = world.now;
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.wake, world.now + world.options.lost_after);
  world.now = world.wake;
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001"));
  EXPECT_THAT(world.in_service(), ElementsAre("m002"));
}

TEST(GroupKeeper, standalone_tasks_keep_even_a_lost_machine_while_another_takes_its_place) {
  GroupWorld world;
  world.group.desired_capacity = 1;
  world.run();
  world.tasks["m001"] = 1;
  world.instances["m001"].agent_connected = false;
  world.instances["m001"].connected_changed_at = world.now - world.options.lost_after;
  world.run();
  EXPECT_THAT(world.ended, IsEmpty());
  EXPECT_EQ(world.machine("m001").state, MachineState::Terminating);
  EXPECT_THAT(world.in_service(), ElementsAre("m002"));
}

TEST(GroupKeeper, a_deregistered_machine_is_replaced_once_its_grace_is_over) {
  GroupWorld world;
  world.group.desired_capacity = 1;
  world.group.health_check_grace_s = 60;
  world.run();
  world.instances.erase("m001");
  EXPECT_FALSE(world.pass());
  world.now += std::chrono::seconds(60);
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001"));
}

TEST(GroupKeeper, a_machine_that_never_joins_is_replaced_at_growing_intervals) {
  GroupWorld world;
  world.agents_join = false;
  world.group.desired_capacity = 2;
  world.run();
  ASSERT_EQ(world.wake, world.now + world.options.join_within);
  world.now = world.wake;
  world.run();
  EXPECT_THAT(world.ended, SizeIs(2));
  EXPECT_EQ(world.group.launch_failures, 1);  // Both were one try.
  EXPECT_EQ(world.launched, 2);
  EXPECT_EQ(world.wake, world.now + launch_backoff(1));
  world.now = world.wake;
  world.run();
  EXPECT_EQ(world.launched, 4);
  world.agents_join = true;
  world.run();
  EXPECT_EQ(world.group.launch_failures, 0);
  EXPECT_FALSE(world.group.launch_not_before.has_value());
}

TEST(GroupKeeper, the_wait_after_failed_launches_doubles_up_to_a_quarter_of_an_hour) {
  EXPECT_EQ(launch_backoff(0), base::Milliseconds(0));
  EXPECT_EQ(launch_backoff(1), std::chrono::seconds(5));
  EXPECT_EQ(launch_backoff(4), std::chrono::seconds(40));
  EXPECT_EQ(launch_backoff(9), std::chrono::minutes(15));
  EXPECT_EQ(launch_backoff(1'000'000), std::chrono::minutes(15));
}

TEST(GroupKeeper, a_deleted_group_ends_its_machines_and_is_forgotten_last) {
  GroupWorld world;
  world.group.desired_capacity = 3;
  world.run();
  world.group.deleting = true;
  world.run();
  EXPECT_THAT(world.ended, SizeIs(3));
  EXPECT_TRUE(world.forgotten);
}

TEST(GroupKeeper, a_launch_under_way_is_ended_only_once_it_has_an_id) {
  GroupWorld world;
  world.group.desired_capacity = 1;
  world.pass();
  world.group.desired_capacity = 0;
  world.launches_work = false;
  world.run();
  EXPECT_EQ(world.machine("m001").state, MachineState::Terminating);
  EXPECT_THAT(world.ended, IsEmpty());
  world.machine("m001").id = "i-1";
  world.run();
  EXPECT_THAT(world.ended, ElementsAre("m001"));
}

// Something happens to a group.
void happen(GroupWorld& world, uint32_t kind, uint32_t pick) {
  auto& group = world.group;
  const auto some = [&]() -> std::string {
    return group.machines.empty() ? "" : group.machines[pick % group.machines.size()].token;
  };
  switch (kind % 9) {
    case 0:
      group.desired_capacity = static_cast<int32_t>(pick % 8);
      break;
    case 1:
      group.max_size = static_cast<int32_t>(1 + pick % 8);
      group.min_size = std::min(group.min_size, group.max_size);
      break;
    case 2:
      if (world.instances.contains(some())) world.tasks[some()] = static_cast<int>(pick % 2);
      break;
    case 3:
      if (const auto found = world.instances.find(some()); found != world.instances.end()) {
        found->second.agent_connected = !found->second.agent_connected;
        found->second.connected_changed_at = world.now;
      }
      break;
    case 4:
      world.launches_work = !world.launches_work;
      break;
    case 5:
      world.agents_join = !world.agents_join;
      break;
    case 6:
      group.min_size = std::min(static_cast<int32_t>(pick % 3), group.max_size);
      break;
    case 7:
      if (!some().empty() && !world.protects_busy) {
        world.machine(some()).scale_in_protected = pick % 2 == 0;
      }
      break;
    default:
      world.now += std::chrono::seconds(pick % 2'000);
      break;
  }
  world.pass();
  world.provide();
}

RC_GTEST_PROP(GroupKeeper, stays_within_its_limits_and_comes_to_rest, (uint32_t seed)) {
  base::Random random(seed);
  GroupWorld world;
  world.protects_busy = random.chance(50);
  world.drains = random.chance(70);
  for (int i = 0; i < 60; ++i) {
    happen(world, static_cast<uint32_t>(random.below(9)),
           static_cast<uint32_t>(random.below(1'000)));
  }
  // Nothing is in the way any more: the group has what it wants, and stays so.
  world.launches_work = world.agents_join = true;
  for (model::Machine& machine : world.group.machines) machine.scale_in_protected = false;
  for (auto& [token, count] : world.tasks) count = 0;
  for (auto& [token, instance] : world.instances) instance.agent_connected = true;
  for (int i = 0; i < 5; ++i) {  // Longer than any wait after a failed launch.
    world.now += std::chrono::minutes(20);
    world.run();
  }
  const int32_t wanted =
      std::clamp(world.group.desired_capacity, world.group.min_size, world.group.max_size);
  RC_ASSERT(static_cast<int32_t>(world.in_service().size()) == wanted);
  RC_ASSERT(static_cast<int32_t>(world.group.machines.size()) == wanted);
  const int launched = world.launched;
  for (int i = 0; i < 20; ++i) {
    world.now += std::chrono::minutes(10);
    RC_ASSERT(!world.pass());
  }
  RC_ASSERT(world.launched == launched);
  RC_ASSERT(!::testing::Test::HasFailure());
}

TEST(GroupKeeper, launches_a_hundred_at_a_time_and_looks_again_at_once) {
  GroupWorld world;
  world.group.max_size = world.group.desired_capacity = 250;
  for (const int launched : {100, 200, 250}) {
    world.pass();
    EXPECT_EQ(world.launched, launched);
    const bool all = launched == world.group.desired_capacity;
    EXPECT_EQ(world.wake == world.now + base::Milliseconds{1}, !all);
  }
}

}  // namespace
}  // namespace reconcile::machines
