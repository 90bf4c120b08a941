// Groups that are altered, scaled by what waits, deleted and loaded again, as transcripts.
#include <gmock/gmock.h>

#include "control/capacity/groups/testing_machines.h"

namespace control {
namespace {

using model::MachineState;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

TEST_F(Machines, bigger_machines_after_a_change_of_the_launch_configuration) {
  desire(2);
  run();
  plane.now += std::chrono::minutes(1);
  alter([&](model::ClusterState& state) {
    apply(state, model::LaunchConfigurationPut{{.name = "bigger",
                                                .id = "lc2",
                                                .created_at = plane.now,
                                                .instance_type = "p3.16xlarge",
                                                .user_data = {},
                                                .echoed = {}}});
  });
  alter_group([](model::AutoScalingGroup& altered) {
    altered.launch_configuration = "bigger";
    altered.desired_capacity = 4;
  });
  run();
  EXPECT_EQ(instance("i-3").gpus.size(), 8u);
  desire(2);
  run();
  EXPECT_THAT(terminated, ElementsAre("i-1", "i-2"));
}

TEST_F(Machines, a_launch_template_is_followed_to_the_version_that_it_has_at_launch) {
  alter([](model::ClusterState& state) {
    model::LaunchTemplate made;
    made.id = "lt-1";
    made.name = "boxes";
    made.latest_version = 2;
    made.versions = {{.number = 1,
                      .description = {},
                      .created_at = testing::start_time,
                      .instance_type = "c5.2xlarge",
                      .user_data = {},
                      .data = {}},
                     {.number = 2,
                      .description = {},
                      .created_at = testing::start_time,
                      .instance_type = "p3.2xlarge",
                      .user_data = "second",
                      .data = {}}};
    apply(state, model::LaunchTemplatePut{made});
  });
  alter_group([](model::AutoScalingGroup& altered) {
    altered.launch_configuration.clear();
    altered.launch_template = "lt-1";
    altered.launch_template_version = "$Latest";
    altered.desired_capacity = 1;
  });
  pass();
  const LaunchMachine order = next_launch();
  EXPECT_EQ(order.instance_type, "p3.2xlarge");
  EXPECT_EQ(order.user_data, "second");
  EXPECT_EQ(group().machines[0].launch_version, "2");
  alter_group([](model::AutoScalingGroup& altered) { altered.launch_template_version = "7"; });
  desire(2);
  pass();
  EXPECT_THAT(activities()[0].status_message, HasSubstr("does not exist any more"));
}

TEST_F(Machines, waiting_tasks_bring_machines_from_zero_and_idle_ones_go_later) {
  define();
  queue(3);
  run(std::chrono::minutes(1));
  // Four GPUs a machine would do; from zero it is two.
  EXPECT_EQ(group().desired_capacity, 2);
  EXPECT_EQ(launched, 2);
  EXPECT_THAT(activities()[0].cause, HasSubstr("CapacityProviderReservation was 200"));
  std::vector<std::string> tasks;
  for (const auto& [arn, task] : plane.core.state().tasks) tasks.push_back(arn.str());
  for (const std::string& task : tasks) plane.report(task, "STOPPED", 0);
  run(std::chrono::minutes(17));
  EXPECT_EQ(group().desired_capacity, 2);
  for (int i = 0; i < 3 && group().desired_capacity == 2; ++i) run(std::chrono::minutes(1));
  EXPECT_EQ(group().desired_capacity, 1) << "half of them for one point";
  run(std::chrono::minutes(1));
  EXPECT_EQ(group().desired_capacity, 0);
  EXPECT_THAT(terminated, SizeIs(2));
  EXPECT_EQ(launched, 2);
}

TEST_F(Machines, a_restart_neither_forgets_nor_repeats_what_managed_scaling_has_seen) {
  desire(4);
  run(std::chrono::minutes(6));  // Warm.
  int points = group().points_below;
  ASSERT_GT(points, 0);
  while (points < 14) {
    run(std::chrono::minutes(1));
    ASSERT_EQ(group().points_below, ++points);
    restart();
    pass();
    ASSERT_EQ(group().points_below, points) << "a restart is no point";
    ASSERT_EQ(group().desired_capacity, 4);
  }
  run(std::chrono::minutes(1));
  EXPECT_EQ(group().desired_capacity, 2) << "the fifteenth";
  restart();
  run(std::chrono::seconds(59));
  EXPECT_EQ(group().desired_capacity, 2);
  run(std::chrono::seconds(2));
  EXPECT_EQ(group().desired_capacity, 1);
  EXPECT_EQ(group().points_below, 15) << "no further, so that nothing is written for it";
}

TEST_F(Machines, a_restart_while_machines_come_asks_for_no_more_of_them) {
  define();
  queue(16);
  pass(std::chrono::minutes(1));
  ASSERT_EQ(group().desired_capacity, 4);
  for (int i = 0; i < 5; ++i) {
    restart();
    pass(std::chrono::minutes(1));
    EXPECT_EQ(group().desired_capacity, 4);
    EXPECT_THAT(group().machines, SizeIs(4));
  }
  run(std::chrono::minutes(1));
  EXPECT_EQ(launched, 4);
}

TEST_F(Machines, who_waited_before_a_restart_is_scaled_for_at_once) {
  define();
  queue(4);  // And a restart with it.
  pass();
  EXPECT_EQ(group().desired_capacity, 2);
}

TEST_F(Machines, points_are_not_kept_while_nobody_scales) {
  desire(4);
  run(std::chrono::minutes(10));
  ASSERT_GT(group().points_below, 0);
  const auto set_scaling = [&](api::ecs::ManagedScalingStatus status) {
    alter([&](model::ClusterState& state) {
      model::CapacityProvider provider = state.capacity_providers.at("pool");
      provider.group.managed_scaling->status = status;
      apply(state, model::CapacityProviderPut{provider});
    });
  };
  set_scaling(api::ecs::ManagedScalingStatus::Disabled);
  run();
  EXPECT_EQ(group().points_below, 0);
  set_scaling(api::ecs::ManagedScalingStatus::Enabled);
  run(std::chrono::minutes(14));
  EXPECT_EQ(group().desired_capacity, 4);
}

TEST_F(Machines, managed_scaling_leaves_busy_machines_alone_and_shows_them_protected) {
  alter([](model::ClusterState& state) {
    model::CapacityProvider provider = state.capacity_providers.at("pool");
    provider.group.managed_termination_protection = api::ecs::ManagedTerminationProtection::Enabled;
    apply(state, model::CapacityProviderPut{provider});
  });
  define();
  desire(3);
  run();
  plane.report(start_task("i-2"), "RUNNING");
  run(std::chrono::minutes(40));
  EXPECT_EQ(group().desired_capacity, 1);
  ASSERT_THAT(group().machines, SizeIs(1));
  EXPECT_EQ(group().machines[0].id, "i-2");
  EXPECT_TRUE(group().machines[0].scale_in_protected);
  desire(0);
  run();
  EXPECT_THAT(states(), ElementsAre(MachineState::InService));
}

TEST_F(Machines, a_deleted_group_ends_its_machines_and_is_gone) {
  desire(2);
  run();
  alter_group([](model::AutoScalingGroup& altered) {
    altered.deleting = true;
    altered.desired_capacity = 0;
  });
  run(std::chrono::minutes(6));  // No list tells that nothing else is there.
  EXPECT_THAT(terminated, SizeIs(2));
  EXPECT_FALSE(plane.core.state().auto_scaling_groups.contains("gpus"));
}

TEST_F(Machines, what_is_loaded_again_is_what_was_there) {
  desire(3);
  run();
  desire(1);
  pass();
  const model::ClusterState loaded = plane.reloaded();
  EXPECT_EQ(loaded.auto_scaling_groups, plane.core.state().auto_scaling_groups);
  EXPECT_EQ(loaded.scaling_activities.at("gpus").activities.size(), activities().size());
  EXPECT_EQ(loaded.instances.begin()->second.capacity_provider, "pool");
}

TEST_F(Machines, without_groups_no_timer_is_set_for_them) {
  testing::Plane quiet;
  EXPECT_LE(quiet.core.next_timer(), testing::start_time + std::chrono::seconds(10));
  const GroupController controller(quiet.core.state(), Settings{}, testing::start_time);
  EXPECT_EQ(controller.next_tick(), base::Time::max());
}

}  // namespace
}  // namespace control
