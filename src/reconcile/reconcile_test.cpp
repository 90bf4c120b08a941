#include "reconcile/reconcile.h"

#include <gtest/gtest.h>

#include "reconcile/circuit_breaker.h"
#include "reconcile/rolling.h"
#include "reconcile/task_sets.h"
#include "reconcile/testing.h"

namespace reconcile {
namespace {

using api::ecs::DeploymentRolloutState;
using api::ecs::ServiceDeploymentStatus;
using testing::source_of;
using testing::World;

TEST(Limits, the_minimum_rounds_up_and_the_maximum_down) {
  struct Row {
    int32_t desired, minimum, maximum, lower, upper;
  };
  for (const Row& row :
       {Row{4, 50, 200, 2, 8}, Row{5, 50, 150, 3, 7}, Row{1, 50, 150, 1, 1}, Row{3, 0, 100, 0, 3},
        Row{0, 100, 200, 0, 0}, Row{10, 33, 125, 4, 12}, Row{5000, 100, 200, 5000, 10000}}) {
    EXPECT_EQ(limits_of(row.desired, row.minimum, row.maximum), (Limits{row.lower, row.upper}))
        << row.desired << " " << row.minimum << " " << row.maximum;
  }
}

TEST(CircuitBreaker, its_threshold_follows_the_desired_count_within_bounds) {
  using Type = api::ecs::ThresholdType;
  struct Row {
    std::optional<Type> type;
    std::optional<int32_t> value;
    int32_t desired, threshold;
  };
  for (const Row& row :
       {Row{std::nullopt, std::nullopt, 1, 3}, Row{std::nullopt, std::nullopt, 8, 4},
        Row{std::nullopt, std::nullopt, 25, 13}, Row{std::nullopt, std::nullopt, 800, 200},
        Row{Type::Count, 7, 100, 7}, Row{Type::BoundedPercent, 10, 100, 10},
        Row{Type::BoundedPercent, 10, 10, 3}, Row{Type::UnboundedPercent, 10, 10, 1},
        Row{Type::UnboundedPercent, 100, 1000, 1000}, Row{Type::UnboundedPercent, 10, 0, 1}}) {
    api::ecs::DeploymentConfiguration configuration;
    configuration.deployment_circuit_breaker.emplace();
    if (row.type) {
      auto& threshold = configuration.deployment_circuit_breaker->threshold_configuration;
      threshold.emplace();
      threshold->type = row.type;
      threshold->value = row.value;
    }
    EXPECT_EQ(breaker_threshold(configuration, row.desired), row.threshold) << row.desired;
  }
}

TEST(Backoff, doubles_with_each_round_up_to_a_quarter_of_an_hour) {
  using std::chrono::seconds;
  EXPECT_EQ(backoff(0, 1), seconds(0));
  EXPECT_EQ(backoff(1, 1), seconds(5));
  EXPECT_EQ(backoff(2, 1), seconds(10));
  EXPECT_EQ(backoff(7, 8), seconds(0));
  EXPECT_EQ(backoff(8, 8), seconds(5));
  EXPECT_EQ(backoff(24, 8), seconds(20));
  EXPECT_EQ(backoff(1000, 1), std::chrono::minutes(15));
}

TEST(TaskSets, the_computed_desired_count_rounds_up) {
  model::Service service;
  model::TaskSet set;
  for (const auto& [desired, percent, computed] : std::vector<std::tuple<int32_t, double, int32_t>>{
           {10, 50, 5}, {10, 1, 1}, {3, 33.4, 2}, {3, 100, 3}, {7, 0, 0}, {0, 100, 0}}) {
    service.desired_count = desired;
    set.scale_percent = percent;
    EXPECT_EQ(computed_desired_count(service, set), computed) << desired << " " << percent;
  }
}

TEST(Rolling, a_new_service_reaches_a_steady_state) {
  World world;
  world.add_instance("i", 8);
  world.create(8, 100, 200, 1);
  world.run();
  EXPECT_EQ(world.running_count(), 8);
  EXPECT_TRUE(world.service().steady);
  EXPECT_EQ(world.primary().rollout_state, DeploymentRolloutState::Completed);
  EXPECT_EQ(world.rollout().status, ServiceDeploymentStatus::Successful);
  EXPECT_TRUE(world.said("has reached a steady state."));
}

TEST(Rolling, new_tasks_come_before_old_ones_go_where_there_is_room) {
  World world;
  world.add_instance("i", 8);
  world.create(4, 100, 200, 1);
  world.run();
  const auto next = world.define(1);
  world.deploy({.task_definition = next,
                .launch_type = {},
                .capacity_provider_strategy = {},
                .platform_version = {},
                .network_configuration = {}});
  world.pass();
  EXPECT_EQ(world.wanted(), 8);
  world.report_all();
  world.pass();
  EXPECT_EQ(world.wanted(), 8);  // Not before they have settled.
  world.run();
  EXPECT_EQ(world.of_definition(next), 4);
  EXPECT_EQ(world.wanted(), 4);
  EXPECT_EQ(world.service().deployments.size(), 1u);
  EXPECT_TRUE(world.service().steady);
}

TEST(Rolling, on_full_gpus_it_stops_as_many_as_the_minimum_allows) {
  World world;
  world.add_instance("i", 8);
  world.create(8, 50, 100, 1);
  world.run();
  const auto next = world.define(1);
  world.deploy(source_of(next));
  world.pass();
  EXPECT_EQ(world.wanted(), 4);
  world.run();
  EXPECT_EQ(world.of_definition(next), 8);
  EXPECT_TRUE(world.service().steady);
}

TEST(GpuRolling, says_that_no_gpu_can_come_free_under_100_and_200) {
  World world;
  world.add_instance("i", 8);
  world.create(8, 100, 200, 1);
  world.run();
  const auto next = world.define(1);
  world.deploy(source_of(next));
  world.run();
  EXPECT_EQ(world.of_definition(next), 0);
  EXPECT_EQ(world.running_count(), 8);
  EXPECT_TRUE(world.said("cannot replace its tasks: no GPU is free"));
  EXPECT_TRUE(world.said("berth:gpu-rolling=replace"));
}

TEST(Rolling, an_update_right_after_the_start_stops_nothing_on_full_gpus) {
  World world;
  world.add_instance("i", 8);
  world.create(8, 100, 200, 1);
  world.pass();
  world.report_all();
  world.deploy(source_of(world.define(1)));
  world.pass();
  EXPECT_EQ(world.running_count(), 8);
  world.run();
  EXPECT_EQ(world.running_count(), 8);
}

api::ecs::Tag replace_tag() {
  api::ecs::Tag tag;
  tag.key = "berth:gpu-rolling";
  tag.value = "replace";
  return tag;
}

TEST(GpuRolling, with_the_tag_one_task_is_replaced_after_the_other) {
  World world;
  world.check_limits = false;  // The tag allows one below the minimum: checked here.
  world.add_instance("i", 8);
  world.create(8, 100, 200, 1);
  world.run();
  const auto next = world.define(1);
  world.update([](model::Service& service) { service.tags = {replace_tag()}; });
  world.deploy(source_of(next));
  for (int i = 0; i < 200 && world.of_definition(next) < 8; ++i) {
    world.pass();
    EXPECT_GE(world.healthy(), 7);
    if (!world.report_all() && world.wake != base::Time::max()) world.now = world.wake;
  }
  world.run();
  EXPECT_EQ(world.of_definition(next), 8);
  EXPECT_TRUE(world.service().steady);
}

TEST(GpuRolling, with_the_tag_tasks_that_need_more_gpus_find_room) {
  World world;
  world.check_limits = false;
  world.add_instance("i", 4);
  world.create(4, 100, 200, 1);
  world.run();
  const auto next = world.define(2);
  world.update([](model::Service& service) {
    service.tags = {replace_tag()};
    service.desired_count = 2;
  });
  world.deploy(source_of(next));
  world.run();
  EXPECT_EQ(world.of_definition(next), 2);
  EXPECT_TRUE(world.service().steady);
}

TEST(CircuitBreaker, rolls_back_to_the_last_completed_deployment) {
  World world;
  world.add_instance("i", 8);
  world.create(4, 100, 200, 1);
  world.run();
  const auto good = world.service().source.task_definition;
  const std::string good_id = world.primary().id;
  world.update([](model::Service& service) {
    service.deployment_configuration.deployment_circuit_breaker.emplace();
    service.deployment_configuration.deployment_circuit_breaker->enable = true;
    service.deployment_configuration.deployment_circuit_breaker->rollback = true;
  });
  const auto bad = world.define(1);
  world.deploy(source_of(bad));
  const auto failed = world.primary().service_deployment;
  for (int i = 0; i < 50 && world.primary().id != good_id; ++i) {
    world.pass();
    for (const model::TaskArn& task : world.tasks()) {
      if (world.state.tasks.at(task).definition == bad) world.end(task, "TaskFailedToStart");
    }
    world.now += std::chrono::seconds(30);
  }
  world.run();
  EXPECT_EQ(world.primary().id, good_id);
  EXPECT_EQ(world.of_definition(good), 4);
  EXPECT_EQ(world.of_definition(bad), 0);
  EXPECT_EQ(world.service().source.task_definition, good);
  EXPECT_EQ(world.service().deployments.size(), 1u);
  const auto& rollout = world.state.service_deployments.at(failed);
  EXPECT_EQ(rollout.status, ServiceDeploymentStatus::RollbackSuccessful);
  EXPECT_EQ(rollout.failure_count, 4);  // All of the first start.
  EXPECT_EQ(rollout.threshold, 3);
  EXPECT_TRUE(world.said("deployment failed: tasks failed to start."));
  EXPECT_TRUE(world.said("rolling back to deployment " + good_id));
}

TEST(CircuitBreaker, without_rollback_starts_nothing_more) {
  World world;
  world.add_instance("i", 8);
  model::Service made;
  made.desired_count = 2;
  made.source.task_definition = world.define(1);
  made.deployment_configuration.deployment_circuit_breaker.emplace();
  made.deployment_configuration.deployment_circuit_breaker->enable = true;
  world.create(std::move(made));
  for (int i = 0; i < 50; ++i) {
    world.pass();
    for (const model::TaskArn& task : world.tasks()) world.end(task, "TaskFailedToStart");
    world.now += std::chrono::seconds(30);
  }
  EXPECT_EQ(world.primary().rollout_state, DeploymentRolloutState::Failed);
  EXPECT_EQ(world.rollout().status, ServiceDeploymentStatus::Stopped);
  EXPECT_EQ(world.primary().failed_tasks, 4);  // Two starts of two.
  EXPECT_EQ(world.wanted(), 0);
}

TEST(Backoff, a_crash_loop_slows_down_and_says_so) {
  World world;
  world.add_instance("i", 8);
  world.create(1, 100, 200, 1);
  int starts = 0;
  for (int second = 0; second < 3600; ++second) {
    world.pass();
    for (const model::TaskArn& task : world.tasks()) {
      ++starts;
      world.running(task);
      world.end(task);
    }
    world.now += std::chrono::seconds(1);
  }
  EXPECT_GE(starts, 8);
  EXPECT_LE(starts, 14);
  EXPECT_TRUE(world.said("is unable to consistently start tasks successfully"));
}

model::Service with_a_task_set(const model::TaskDefinitionArn& definition) {
  model::Service made;
  made.controller = api::ecs::DeploymentControllerType::External;
  made.desired_count = 1;
  made.deployment_configuration.minimum_healthy_percent = 0;
  made.deployment_configuration.maximum_percent = 200;
  model::TaskSet set;
  set.id = "ecs-svc/1";
  set.source = source_of(definition);
  set.scale_percent = 100;
  made.task_sets.push_back(set);
  return made;
}

TEST(TaskSets, a_deleted_one_stays_until_its_tasks_have_gone) {
  World world;
  world.add_instance("i", 8);
  world.create(with_a_task_set(world.define(1)));
  world.run();
  world.update([](model::Service& service) { service.task_sets.front().draining = true; });
  for (int i = 0; i < 3; ++i) world.pass();
  EXPECT_EQ(world.state.tasks.at(world.tasks().front()).desired_status, model::TaskStatus::Stopped);
  EXPECT_EQ(world.service().task_sets.size(), 1U);
  world.run();
  EXPECT_TRUE(world.service().task_sets.empty());
}

TEST(TaskSets, one_is_steady_once_its_health_checks_say_so) {
  using Stability = api::ecs::StabilityStatus;
  World world;
  world.add_instance("i", 8);
  world.create(with_a_task_set(world.define(1, true)));
  world.run();
  ASSERT_EQ(world.running_count(), 1);
  EXPECT_EQ(world.service().task_sets.front().stability, Stability::Stabilizing);
  EXPECT_FALSE(world.said("has reached a steady state"));
  world.health(world.tasks().front(), "HEALTHY");
  world.run();
  EXPECT_EQ(world.service().task_sets.front().stability, Stability::SteadyState);
  EXPECT_TRUE(world.said("has reached a steady state"));
}

TEST(Backoff, a_task_set_whose_tasks_run_starts_the_next_ones_at_once) {
  World world;
  world.add_instance("i", 8);
  world.create(with_a_task_set(world.define(1)));
  // Each crashes once a day, and is well in between.
  for (int day = 0; day < 20; ++day) {
    world.pass();
    ASSERT_EQ(world.tasks().size(), 1U) << "day " << day;
    model::TaskArn task = world.tasks().front();
    world.running(task);
    world.end(task);
    world.now += std::chrono::seconds(5);
    world.pass();
    ASSERT_EQ(world.tasks().size(), 1U) << "day " << day << ": it waits longer than the first time";
    task = world.tasks().front();
    world.running(task);
    world.now += std::chrono::hours(24);
    world.pass();
    world.update([&](model::Service& service) { service.task_sets.front().scale_percent = 0; });
    world.run();
    world.update([&](model::Service& service) { service.task_sets.front().scale_percent = 100; });
  }
}

TEST(Draining, running_tasks_are_replaced_first_and_pending_ones_stop_at_once) {
  World world;
  const auto drained = world.add_instance("i", 2);
  world.create(2, 100, 200, 1);
  world.pass();
  const std::vector<model::TaskArn> tasks = world.tasks();
  world.running(tasks[0]);
  world.now += std::chrono::seconds(10);
  world.add_instance("j", 2);
  world.apply(model::InstanceStatusChanged{drained, model::InstanceStatus::Draining});
  world.pass();
  EXPECT_EQ(world.state.tasks.at(tasks[0]).desired_status, model::TaskStatus::Running);
  EXPECT_EQ(world.state.tasks.at(tasks[1]).desired_status, model::TaskStatus::Stopped);
  world.run();
  EXPECT_TRUE(world.state.instances.at(drained).tasks.empty());
  EXPECT_EQ(world.running_count(), 2);
}

TEST(Draining, tasks_of_an_agent_that_stays_away_are_replaced_after_the_limit) {
  World world;
  const auto lost = world.add_instance("i", 2);
  world.create(2, 100, 200, 1);
  world.run();
  world.add_instance("j", 2);
  world.apply(model::AgentConnectionChanged{lost, false, "gone", world.now});
  world.now += std::chrono::minutes(9);
  EXPECT_FALSE(world.pass());
  EXPECT_EQ(world.wake, world.now + std::chrono::minutes(1));
  world.now += std::chrono::minutes(1);
  world.run();
  EXPECT_EQ(world.running_count(), 2);
  for (const model::TaskArn& task : world.tasks()) {
    const model::Task& found = world.state.tasks.at(task);
    const bool wanted = found.desired_status == model::TaskStatus::Running;
    EXPECT_EQ(wanted, found.instance != lost);
  }
  EXPECT_TRUE(world.service().steady);
}

TEST(Health, an_unhealthy_task_is_replaced_and_its_grace_is_kept) {
  World world;
  world.add_instance("i", 8);
  model::Service made;
  made.desired_count = 2;
  made.source.task_definition = world.define(1, true);
  made.health_check_grace_period_seconds = 60;
  world.create(std::move(made));
  world.pass();
  world.report_all();
  const std::vector<model::TaskArn> tasks = world.tasks();
  world.health(tasks[0], "HEALTHY");
  world.health(tasks[1], "UNHEALTHY");
  world.check_limits = false;
  world.now += std::chrono::seconds(30);
  world.pass();
  EXPECT_EQ(world.wanted(), 2);
  world.now += std::chrono::seconds(31);
  world.pass();
  EXPECT_EQ(world.wanted(), 3);  // The replacement first.
  world.report_all();
  world.health(world.tasks().back(), "HEALTHY");
  world.pass();
  EXPECT_EQ(world.wanted(), 2);
  EXPECT_EQ(world.state.tasks.at(tasks[1]).desired_status, model::TaskStatus::Stopped);
}

TEST(Protection, a_protected_task_outlives_a_scale_in_and_a_deployment) {
  World world;
  world.add_instance("i", 8);
  world.create(4, 100, 200, 1);
  world.run();
  const model::TaskArn kept = world.tasks()[2];
  world.apply(model::TaskProtectionSet{kept, world.now + std::chrono::minutes(20)});
  world.update([](model::Service& service) { service.desired_count = 1; });
  world.pass();
  EXPECT_EQ(world.wanted(), 1);
  EXPECT_EQ(world.state.tasks.at(kept).desired_status, model::TaskStatus::Running);
  world.deploy(source_of(world.define(1)));
  for (int i = 0; i < 10; ++i) {
    world.pass();
    world.report_all();
    world.now += std::chrono::seconds(10);
  }
  EXPECT_EQ(world.wanted(), 2);
  EXPECT_EQ(world.primary().rollout_state, DeploymentRolloutState::InProgress);
  world.run();  // To the end of the protection.
  EXPECT_EQ(world.wanted(), 1);
  EXPECT_EQ(world.state.tasks.at(kept).last_status, model::TaskStatus::Stopped);
  EXPECT_EQ(world.primary().rollout_state, DeploymentRolloutState::Completed);
}

TEST(Daemon, one_task_an_instance_that_comes_and_goes_with_it) {
  World world;
  world.check_limits = false;
  const auto first = world.add_instance("i", 0);
  const auto second = world.add_instance("j", 0);
  model::Service made;
  made.scheduling = api::ecs::SchedulingStrategy::Daemon;
  made.source.task_definition = world.define(0);
  world.fit = {first, second};
  world.create(std::move(made));
  world.run();
  EXPECT_EQ(world.running_count(), 2);
  EXPECT_EQ(world.service().desired_count, 2);
  EXPECT_TRUE(world.service().steady);
  world.fit = {second};  // A constraint does not hold for the first any more.
  world.run();
  EXPECT_EQ(world.running_count(), 1);
  EXPECT_TRUE(world.state.instances.at(first).tasks.empty());
  const auto next = world.define(0);
  world.deploy(source_of(next));
  world.run();
  EXPECT_EQ(world.of_definition(next), 1);
  EXPECT_EQ(world.primary().rollout_state, DeploymentRolloutState::Completed);
}

TEST(Rebalancing, a_lopsided_service_moves_over_one_task_at_a_time) {
  World world;
  world.add_instance("i", 0, "a");
  model::Service made;
  made.desired_count = 4;
  made.source.task_definition = world.define(0);
  made.zone_rebalancing = api::ecs::AvailabilityZoneRebalancing::Enabled;
  world.create(std::move(made));
  world.run();
  const auto other = world.add_instance("j", 0, "b");
  world.run();
  EXPECT_EQ(world.running_count(), 4);
  EXPECT_EQ(world.state.instances.at(other).tasks.size(), 2u);
  EXPECT_FALSE(world.pass());
}

TEST(Rollout, a_pause_hook_holds_it_until_it_is_continued) {
  World world;
  world.add_instance("i", 8);
  model::Service made;
  made.desired_count = 2;
  made.source.task_definition = world.define(1);
  api::ecs::DeploymentLifecycleHook hook;
  hook.target_type = api::ecs::DeploymentLifecycleHookTargetType::Pause;
  hook.lifecycle_stages = {api::ecs::DeploymentLifecycleHookStage::PreScaleUp};
  made.deployment_configuration.lifecycle_hooks = {hook};
  world.create(std::move(made));
  world.pass();
  EXPECT_EQ(world.wanted(), 0);
  EXPECT_EQ(world.rollout().hooks.front().status,
            api::ecs::DeploymentLifecycleHookStatus::AwaitingAction);
  EXPECT_FALSE(world.pass());
  model::ServiceDeployment continued = world.rollout();
  end_hook(continued, *continued.paused_at, api::ecs::DeploymentLifecycleHookStatus::Succeeded);
  world.apply(model::ServiceDeploymentPut{continued});
  world.run();
  EXPECT_EQ(world.running_count(), 2);
}

TEST(Deleting, a_draining_service_stops_all_and_becomes_inactive) {
  World world;
  world.add_instance("i", 8);
  world.create(3, 100, 200, 1);
  world.run();
  world.update([](model::Service& service) { service.status = model::ServiceStatus::Draining; });
  world.pass();
  EXPECT_EQ(world.service().status, model::ServiceStatus::Draining);
  world.run();
  EXPECT_EQ(world.service().status, model::ServiceStatus::Inactive);
  EXPECT_TRUE(world.tasks().empty());
}

TEST(Deleting, a_large_service_stops_so_many_tasks_at_a_time) {
  World world;
  world.options.most_at_once = 4;
  world.add_instance("i", 10);
  world.create(10, 100, 200, 1);
  world.run();
  ASSERT_EQ(world.running_count(), 10);
  world.update([](model::Service& service) { service.status = model::ServiceStatus::Draining; });
  const auto stopping = [&] {
    return std::ranges::count_if(world.tasks(), [&](const model::TaskArn& one) {
      return world.state.tasks.at(one).desired_status == model::TaskStatus::Stopped;
    });
  };
  world.pass();
  EXPECT_EQ(stopping(), 4);
  world.pass();
  EXPECT_EQ(stopping(), 8);
  world.run();
  EXPECT_EQ(world.service().status, model::ServiceStatus::Inactive);
}

}  // namespace
}  // namespace reconcile
