// What happens to services as instances, task sets and people come and go.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/services/testing_services.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using testing::Services;

TEST_F(Services, it_scales_out_and_in) {
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  ASSERT_TRUE(create(request("web", 2)).has_value());
  run(std::chrono::seconds(10));
  ASSERT_TRUE(scale(8).has_value());
  run(std::chrono::seconds(10));
  EXPECT_EQ(described().running_count, 8);
  EXPECT_EQ(described().deployments.size(), 1u);
  ASSERT_TRUE(scale(3).has_value());
  run(std::chrono::seconds(10));
  EXPECT_EQ(described().running_count, 3);
  EXPECT_EQ(tasks_of("web"), 3);
}

TEST_F(Services, a_task_without_a_place_is_told_once_and_placed_when_an_instance_comes) {
  ASSERT_TRUE(create(request("web", 2)).has_value());
  run(std::chrono::minutes(5));
  const auto told = events();
  EXPECT_EQ(std::ranges::count_if(told,
                                  [](const std::string& text) {
                                    return text.find("unable to place a task") != std::string::npos;
                                  }),
            1);
  plane.register_instance("p3.8xlarge", "a");
  run(std::chrono::seconds(10));
  EXPECT_EQ(described().running_count, 2);
}

TEST_F(Services, a_drained_instance_loses_its_service_tasks_and_keeps_the_others) {
  const auto drained = plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(request("web", 2)).has_value());
  const auto alone = plane.run_task("cpu");
  ASSERT_TRUE(alone.has_value());
  run(std::chrono::seconds(10));
  plane.register_instance("p3.8xlarge", "b");
  api::ecs::UpdateContainerInstancesStateRequest drain;
  drain.container_instances = {drained.str()};
  drain.status = api::ecs::ContainerInstanceStatus::Draining;
  ASSERT_TRUE((plane
                   .call<api::ecs::UpdateContainerInstancesStateResponse>(
                       "UpdateContainerInstancesState", drain)
                   .has_value()));
  run(std::chrono::seconds(30));
  EXPECT_EQ(described().running_count, 2);
  const auto& left = plane.core.state().instances.at(drained).tasks;
  ASSERT_EQ(left.size(), 1u);
  EXPECT_EQ(left.begin()->str(), *alone->tasks[0].task_arn);
}

TEST_F(Services, a_deleted_service_drains_is_inactive_and_then_forgotten) {
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(request("web", 2)).has_value());
  run(std::chrono::seconds(10));
  api::ecs::DeleteServiceRequest request_delete;
  request_delete.service = "web";
  const auto refused = plane.call<api::ecs::DeleteServiceResponse>("DeleteService", request_delete);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error().message, HasSubstr("scaled above 0"));
  request_delete.force = true;
  const auto deleted = plane.call<api::ecs::DeleteServiceResponse>("DeleteService", request_delete);
  ASSERT_TRUE(deleted.has_value());
  EXPECT_EQ(deleted->service->status, "DRAINING");
  const auto too_early = create(request("web", 1));
  ASSERT_FALSE(too_early.has_value());
  EXPECT_THAT(too_early.error().message, HasSubstr("still Draining"));
  run(std::chrono::seconds(10));
  EXPECT_EQ(described().status, "INACTIVE");
  api::ecs::ListServicesRequest list;
  const auto listed = plane.call<api::ecs::ListServicesResponse>("ListServices", list);
  EXPECT_TRUE(listed->service_arns.empty());
  plane.pass(std::chrono::hours(2));
  EXPECT_TRUE(plane.core.state().services.empty());
  EXPECT_TRUE(plane.core.state().service_events.empty());
  EXPECT_TRUE(plane.core.state().service_revisions.empty());
  EXPECT_TRUE(plane.core.state().service_deployments.empty());
  EXPECT_TRUE(create(request("web", 1)).has_value());
}

TEST_F(Services, task_sets_share_the_desired_count_by_their_scale) {
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  auto asked = request("web", 4);
  asked.task_definition.reset();
  asked.deployment_controller.emplace();
  asked.deployment_controller->type = api::ecs::DeploymentControllerType::External;
  ASSERT_TRUE(create(asked).has_value());
  const auto make = [&](const std::string& family, double percent) {
    api::ecs::CreateTaskSetRequest set;
    set.service = "web";
    set.cluster = "default";
    set.task_definition = family;
    set.scale.emplace();
    set.scale->value = percent;
    set.scale->unit = api::ecs::ScaleUnit::Percent;
    const auto response = plane.call<api::ecs::CreateTaskSetResponse>("CreateTaskSet", set);
    CHECK(response.has_value());
    return *response->task_set->task_set_arn;
  };
  const std::string blue = make("web", 100);
  const std::string green = make("next", 25);
  run(std::chrono::seconds(10));
  EXPECT_EQ(tasks_of("web"), 4);
  EXPECT_EQ(tasks_of("next"), 1);
  api::ecs::UpdateServicePrimaryTaskSetRequest primary;
  primary.service = "web";
  primary.cluster = "default";
  primary.primary_task_set = green;
  ASSERT_TRUE((plane
                   .call<api::ecs::UpdateServicePrimaryTaskSetResponse>(
                       "UpdateServicePrimaryTaskSet", primary)
                   .has_value()));
  api::ecs::UpdateTaskSetRequest grow;
  grow.service = "web";
  grow.cluster = "default";
  grow.task_set = green;
  grow.scale.emplace();
  grow.scale->value = 100;
  ASSERT_TRUE((plane.call<api::ecs::UpdateTaskSetResponse>("UpdateTaskSet", grow).has_value()));
  api::ecs::DeleteTaskSetRequest remove;
  remove.service = "web";
  remove.cluster = "default";
  remove.task_set = blue;
  EXPECT_FALSE((plane.call<api::ecs::DeleteTaskSetResponse>("DeleteTaskSet", remove).has_value()));
  remove.force = true;
  const auto removed = plane.call<api::ecs::DeleteTaskSetResponse>("DeleteTaskSet", remove);
  ASSERT_TRUE(removed.has_value());
  EXPECT_EQ(removed->task_set->status, "DRAINING");
  grow.task_set = blue;
  const auto refused = plane.call<api::ecs::UpdateTaskSetResponse>("UpdateTaskSet", grow);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().message, "The task set is being deleted.");
  run(std::chrono::seconds(10));
  EXPECT_EQ(tasks_of("web"), 0);
  EXPECT_EQ(tasks_of("next"), 4);
  api::ecs::DescribeTaskSetsRequest describe;
  describe.service = "web";
  describe.cluster = "default";
  const auto sets = plane.call<api::ecs::DescribeTaskSetsResponse>("DescribeTaskSets", describe);
  ASSERT_TRUE(sets.has_value());
  ASSERT_EQ(sets->task_sets.size(), 1u);
  EXPECT_EQ(sets->task_sets[0].status, "PRIMARY");
  EXPECT_EQ(sets->task_sets[0].stability_status, api::ecs::StabilityStatus::SteadyState);
}

TEST_F(Services, only_running_tasks_of_services_can_be_protected) {
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(request("web", 1)).has_value());
  const auto alone = plane.run_task("cpu");
  run(std::chrono::seconds(10));
  const auto& state = plane.core.state();
  const auto task = std::ranges::find_if(
      state.tasks, [](const auto& one) { return one.second.group == "service:web"; });
  api::ecs::UpdateTaskProtectionRequest protect;
  protect.cluster = "default";
  protect.tasks = {task->first.str(), *alone->tasks[0].task_arn, "none"};
  protect.protection_enabled = true;
  protect.expires_in_minutes = 5;
  const auto answer =
      plane.call<api::ecs::UpdateTaskProtectionResponse>("UpdateTaskProtection", protect);
  ASSERT_TRUE(answer.has_value());
  ASSERT_EQ(answer->protected_tasks.size(), 1u);
  ASSERT_EQ(answer->failures.size(), 2u);
  EXPECT_EQ(answer->failures[0].reason, "TASK_NOT_VALID");
  EXPECT_EQ(answer->failures[1].reason, "MISSING");
  ASSERT_TRUE(scale(0).has_value());
  run(std::chrono::minutes(4));
  EXPECT_EQ(described().running_count, 1);
  run(std::chrono::minutes(2));
  EXPECT_EQ(described().running_count, 0);
}

TEST_F(Services, a_daemon_follows_the_instances) {
  plane.register_instance("p3.8xlarge", "a");
  auto asked = request("web", 0, "cpu");
  asked.desired_count.reset();
  asked.scheduling_strategy = api::ecs::SchedulingStrategy::Daemon;
  ASSERT_TRUE(create(asked).has_value());
  run(std::chrono::seconds(10));
  EXPECT_EQ(described().running_count, 1);
  plane.register_instance("p3.8xlarge", "b");
  run(std::chrono::seconds(10));
  EXPECT_EQ(described().running_count, 2);
  EXPECT_EQ(described().desired_count, 2);
}

TEST_F(Services, a_cluster_with_services_cannot_be_deleted) {
  ASSERT_TRUE(create(request("web", 0)).has_value());
  api::ecs::DeleteClusterRequest remove;
  remove.cluster = "default";
  const auto answer = plane.call<api::ecs::DeleteClusterResponse>("DeleteCluster", remove);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, "ClusterContainsServicesException");
}

TEST_F(Services, an_idle_service_costs_no_pass) {
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(request("web", 2)).has_value());
  run(std::chrono::seconds(20));
  plane.changes.clear();
  plane.pass(std::chrono::minutes(30));
  EXPECT_TRUE(plane.changes.empty());
}

size_t placed_in(const Output& output) {
  return static_cast<size_t>(std::ranges::count_if(output.changes, [](const model::Change& change) {
    return std::holds_alternative<model::TaskPlaced>(change);
  }));
}

TEST_F(Services, a_large_service_starts_over_several_moments_and_calls_are_served_between_them) {
  plane.define("tiny", "", 4, 1);
  for (const char* const name : {"a", "b"}) plane.register_instance("p3.8xlarge", name);
  ASSERT_TRUE(create(request("web", 1'000, "tiny")).has_value());
  constexpr size_t most = 150;
  const auto started = [this] { return plane.core.state().tasks.size(); };
  EXPECT_GT(started(), 0U);
  EXPECT_LE(started(), most);
  // Of all calls of one moment, the first has done what may be done in it.
  const size_t before = started();
  (void)described();
  EXPECT_EQ(started(), before);
  size_t moments = 1;
  while (started() < 1'000 && moments < 100) {
    ASSERT_EQ(plane.core.next_timer(), plane.now + base::Milliseconds{1});
    plane.now += base::Milliseconds{1};
    const size_t placed = placed_in(plane.step(TimerDue{}));
    EXPECT_GT(placed, 0U);
    EXPECT_LE(placed, most);
    ++moments;
  }
  EXPECT_EQ(started(), 1'000U);
  run(std::chrono::seconds(20));
  EXPECT_EQ(described().running_count, 1'000);
}

TEST_F(Services, the_last_tasks_of_a_large_service_do_not_come_one_by_one) {
  plane.define("tiny", "", 4, 1);
  plane.register_instance("p3.8xlarge", "a");
  constexpr size_t wanted = 5'000;
  ASSERT_TRUE(create(request("web", wanted, "tiny")).has_value());
  size_t left = wanted - plane.core.state().tasks.size();
  while (left > 0) {
    plane.now += base::Milliseconds{1};
    const size_t placed = placed_in(plane.step(TimerDue{}));
    ASSERT_GE(placed, std::min(left, size_t{20})) << left << " tasks are left";
    left -= placed;
  }
}

TEST_F(Services, many_that_find_no_place_take_turns_and_then_wait_quietly) {
  plane.register_instance("p3.8xlarge", "a");
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(create(request(base::format("s{}", i), 8)).has_value());
  }
  plane.pass(std::chrono::seconds(3));
  for (int i = 0; i < 100; ++i) {
    EXPECT_THAT(events(base::format("s{}", i)),
                ::testing::Contains(::testing::HasSubstr("was unable to place a task")));
  }
  size_t steps = 0;
  const base::Time end = plane.now + std::chrono::seconds(30);
  for (; plane.core.next_timer() <= end; ++steps) {
    plane.now = std::max(plane.now, plane.core.next_timer());
    plane.step(TimerDue{});
  }
  EXPECT_LT(steps, 100U);
}

}  // namespace
}  // namespace control
