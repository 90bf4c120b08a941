#include "reconcile/machines/managed_scaling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconcile/machines/testing_group.h"

namespace reconcile::machines {
namespace {

using testing::GroupWorld;
using ::testing::HasSubstr;

CountedRequest need_of(int32_t count, uint32_t gpus, int64_t cpu = 1024, int64_t memory = 1024) {
  CountedRequest need;
  need.count = count;
  need.request.group = base::format("family:g{}", gpus);
  need.request.resources.cpu_units = cpu;
  need.request.resources.memory_mib = memory;
  if (gpus > 0) {
    model::GpuRequest request;
    request.container = "main";
    request.kind = model::GpuRequestKind::Count;
    request.count = gpus;
    need.request.resources.gpus.push_back(request);
  }
  return need;
}

Estimate estimate_of(std::vector<CountedRequest> needs, const std::string& type,
                     const std::vector<Room>& rooms = {}, int32_t most = 100) {
  return estimate(std::move(needs), rooms, imagine(type, nullptr), most);
}

TEST(Estimate, packs_identical_tasks_onto_machines_of_the_type) {
  EXPECT_EQ(estimate_of({need_of(10, 1)}, "p3.8xlarge").more, 3);  // 4 GPUs each.
  EXPECT_EQ(estimate_of({need_of(8, 1)}, "p3.8xlarge").more, 2);
  EXPECT_EQ(estimate_of({need_of(3, 3)}, "p3.8xlarge").more, 3);
}

TEST(Estimate, packs_tasks_of_different_needs_together_the_larger_first) {
  EXPECT_EQ(estimate_of({need_of(2, 1), need_of(2, 3)}, "p3.8xlarge").more, 2);
  EXPECT_EQ(estimate_of({need_of(4, 1), need_of(1, 0)}, "p3.8xlarge").more, 1);
}

TEST(Estimate, leaves_out_what_the_type_cannot_hold) {
  const Estimate found = estimate_of({need_of(2, 8), need_of(1, 1)}, "p3.8xlarge");
  EXPECT_EQ(found.more, 1);
  EXPECT_EQ(found.left_out, 2);
}

TEST(Estimate, leaves_out_what_a_constraint_keeps_off_the_type) {
  CountedRequest need = need_of(2, 1);
  api::ecs::PlacementConstraint constraint;
  constraint.type = api::ecs::PlacementConstraintType::MemberOf;
  constraint.expression = "attribute:ecs.instance-type == p4d.24xlarge";
  need.request.constraints.push_back(constraint);
  EXPECT_EQ(estimate_of({need}, "p3.8xlarge").left_out, 2);
  EXPECT_EQ(estimate_of({need}, "p4d.24xlarge").more, 1);
}

TEST(Estimate, distinct_instances_need_a_machine_each) {
  CountedRequest need = need_of(3, 1);
  api::ecs::PlacementConstraint constraint;
  constraint.type = api::ecs::PlacementConstraintType::DistinctInstance;
  need.request.constraints.push_back(constraint);
  EXPECT_EQ(estimate_of({need}, "p3.8xlarge").more, 3);
}

TEST(Estimate, machines_that_are_on_their_way_take_tasks_first) {
  const Estimate found =
      estimate_of({need_of(10, 1)}, "p3.8xlarge", {{.token = "m1"}, {.token = "m2"}, {}});
  EXPECT_EQ(found.more, 0);
  EXPECT_EQ(found.used.size() + static_cast<size_t>(found.unasked_used), 3u);
}

TEST(Estimate, a_registered_machine_takes_what_is_free_of_it) {
  model::ContainerInstance half = *imagine("p3.8xlarge", nullptr);
  half.tasks.insert(model::TaskArn("somebody"));
  half.gpus[0].state = model::GpuState::Dedicated;
  half.gpus[1].state = model::GpuState::Quarantined;
  const Estimate found =
      estimate_of({need_of(3, 1)}, "p3.8xlarge", {{.token = "m1", .instance = &half}});
  EXPECT_EQ(found.more, 1);
  EXPECT_TRUE(found.used.contains("m1"));
}

TEST(Estimate, an_unknown_type_is_learned_from_the_first_that_registers) {
  EXPECT_TRUE(estimate_of({need_of(1, 1)}, "my-box").type_is_unknown);
  model::ContainerInstance box = *imagine("p3.2xlarge", nullptr);
  const Estimate found = estimate({need_of(3, 1)}, {}, imagine("my-box", &box), 100);
  EXPECT_FALSE(found.type_is_unknown);
  EXPECT_EQ(found.more, 3);
}

TEST(Estimate, counts_no_more_than_the_group_may_have) {
  EXPECT_EQ(estimate_of({need_of(100, 4)}, "p3.8xlarge", {}, 7).more, 7);
}

Estimate more(int32_t machines) {
  Estimate estimate;
  estimate.more = machines;
  return estimate;
}

TEST(ManagedScaling, from_zero_two_are_launched_at_least) {
  GroupWorld world;
  const ScalingDecision decision = world.scale_point(more(1));
  EXPECT_EQ(decision.desired_capacity, 2);
  EXPECT_EQ(decision.reservation_percent, 200);
  EXPECT_THAT(decision.reason, HasSubstr("CapacityProviderReservation was 200"));
  GroupWorld other;
  EXPECT_EQ(other.scale_point(more(5)).desired_capacity, 5);
  GroupWorld unknown;
  Estimate of_unknown;
  of_unknown.type_is_unknown = true;
  EXPECT_EQ(unknown.scale_point(of_unknown).desired_capacity, 2);
  GroupWorld nothing;
  const ScalingDecision idle = nothing.scale_point();
  EXPECT_EQ(idle.desired_capacity, 0);
  EXPECT_EQ(idle.reservation_percent, 100);
}

TEST(ManagedScaling, steps_stay_within_their_bounds) {
  GroupWorld world;
  world.group.max_size = 100;
  world.group.desired_capacity = 1;
  world.run();
  world.tasks["m001"] = 1;
  world.settings.minimum_scaling_step_size = 3;
  world.settings.maximum_scaling_step_size = 5;
  EXPECT_EQ(world.scale_point(more(1)).desired_capacity, 4);
  world.run();
  for (auto& [token, instance] : world.instances) world.tasks[token] = 1;
  EXPECT_EQ(world.scale_point(more(20)).desired_capacity, 9);
}

TEST(ManagedScaling, never_more_than_the_group_may_have) {
  GroupWorld world;
  world.group.max_size = 3;
  EXPECT_EQ(world.scale_point(more(50)).desired_capacity, 3);
}

TEST(ManagedScaling, a_lower_target_keeps_some_in_reserve) {
  GroupWorld world;
  world.settings.target_capacity = 50;
  world.group.desired_capacity = 2;
  world.run();
  world.now += std::chrono::minutes(10);
  world.tasks["m001"] = world.tasks["m002"] = 1;
  const ScalingDecision decision = world.scale_point();
  EXPECT_EQ(decision.reservation_percent, 100);
  EXPECT_EQ(decision.desired_capacity, 4);
}

TEST(ManagedScaling, empty_machines_go_after_fifteen_points_half_of_them_at_once) {
  GroupWorld world;
  world.group.desired_capacity = 8;
  world.run();
  world.now += std::chrono::seconds(world.settings.instance_warmup_period.value_or(0));
  for (int point = 1; point < points_to_scale_in; ++point) {
    ASSERT_EQ(world.scale_point().desired_capacity, 8) << point;
  }
  EXPECT_EQ(world.scale_point().desired_capacity, 4);
  world.run();
  EXPECT_EQ(world.scale_point().desired_capacity, 2);
  world.run();
  EXPECT_EQ(world.scale_point().desired_capacity, 1);
  world.run();
  EXPECT_EQ(world.scale_point().desired_capacity, 0);
}

TEST(ManagedScaling, machines_that_warm_up_or_have_tasks_do_not_go) {
  GroupWorld world;
  world.group.desired_capacity = 3;
  world.run();
  for (int i = 0; i < 4; ++i) {
    world.now += std::chrono::minutes(1);
    EXPECT_EQ(world.scale_point().points_below, 0);
  }
  world.tasks["m002"] = 1;
  world.now += std::chrono::minutes(1);
  for (int i = 0; i < 40; ++i) {
    world.scale_point();
    world.run();
    world.now += std::chrono::minutes(1);
  }
  EXPECT_THAT(world.in_service(), ::testing::ElementsAre("m002"));
}

TEST(ManagedScaling, asking_for_more_starts_the_count_anew) {
  GroupWorld world;
  world.group.desired_capacity = 2;
  world.run();
  world.now += std::chrono::minutes(10);
  for (int i = 0; i < 10; ++i) world.scale_point();
  EXPECT_EQ(world.group.points_below, 10);
  world.tasks["m001"] = world.tasks["m002"] = 1;
  EXPECT_EQ(world.scale_point(more(1)).desired_capacity, 3);
  EXPECT_EQ(world.group.points_below, 0);
}

TEST(ManagedScaling, a_look_between_two_points_only_asks_for_more) {
  GroupWorld world;
  world.group.desired_capacity = 2;
  world.run();
  world.now += std::chrono::minutes(10);
  world.group.points_below = points_to_scale_in;
  const std::vector<Look> looks = world.looks();
  const auto look = scale({.group = world.group,
                           .looks = looks,
                           .settings = world.settings,
                           .waiting = {},
                           .now = world.now,
                           .options = {},
                           .is_point = false});
  EXPECT_EQ(look.desired_capacity, 2);
  EXPECT_EQ(look.points_below, points_to_scale_in);
}

TEST(ManagedScaling, not_below_the_minimum_size) {
  GroupWorld world;
  world.group.min_size = 2;
  world.group.desired_capacity = 2;
  world.run();
  world.now += std::chrono::hours(1);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(world.scale_point().desired_capacity, 2);
}

// Tasks come and go; each needs a machine of its own.
RC_GTEST_PROP(ManagedScaling, follows_the_load_and_does_not_flap, (uint32_t seed)) {
  base::Random random(seed);
  GroupWorld world;
  world.protects_busy = random.chance(50);
  world.group.min_size = static_cast<int32_t>(random.below(3));
  world.group.desired_capacity = world.group.min_size;
  int waiting = 0;
  const auto place_waiting = [&] {
    for (const std::string& token : world.in_service()) {
      if (waiting > 0 && world.tasks[token] == 0) {
        world.tasks[token] = 1;
        --waiting;
      }
    }
  };
  const auto minute = [&] {
    place_waiting();
    std::vector<Room> rooms;
    Estimate needed;
    int left = waiting;
    for (const model::Machine& machine : world.group.machines) {
      if (left > 0 && machine.state != model::MachineState::Terminating &&
          world.tasks[machine.token] == 0) {
        needed.used.insert(machine.token);
        --left;
      }
    }
    const int unasked = std::max(0, world.group.desired_capacity - world.alive());
    needed.unasked_used = std::min(left, unasked);
    needed.more = left - needed.unasked_used;
    world.scale_point(needed);
    world.pass();
    world.provide();
    world.pass();
    world.now += std::chrono::minutes(1);
  };
  for (int i = 0; i < 200; ++i) {
    if (random.chance(20)) waiting += static_cast<int>(random.below(3));
    if (random.chance(30) && !world.tasks.empty()) {
      auto some = world.tasks.begin();
      std::advance(some, static_cast<int64_t>(random.below(world.tasks.size())));
      some->second = 0;
    }
    minute();
    RC_ASSERT(world.alive() <= world.group.max_size);
  }
  // The load stands still: so does the capacity, soon, at what is needed.
  for (int i = 0; i < 60; ++i) minute();
  int busy = 0;
  for (const auto& [token, count] : world.tasks) busy += count;
  const int32_t wanted = std::clamp(busy + waiting, world.group.min_size, world.group.max_size);
  RC_ASSERT(world.group.desired_capacity == wanted);
  const int launched = world.launched;
  const size_t ended = world.ended.size();
  for (int i = 0; i < 60; ++i) minute();
  RC_ASSERT(world.launched == launched);
  RC_ASSERT(world.ended.size() == ended);
  RC_ASSERT(!::testing::Test::HasFailure());
}

}  // namespace
}  // namespace reconcile::machines
