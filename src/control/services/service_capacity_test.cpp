// Services whose tasks go by capacity providers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "control/capacity/testing_capacity.h"
#include "control/services/testing_services.h"

namespace control {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::strategy_item;

class ServicesOnCapacity : public testing::WithCapacity<testing::Services> {
 protected:
  api::ecs::CreateServiceRequest on(
      const api::List<api::ecs::CapacityProviderStrategyItem>& strategy, int32_t desired) {
    auto made = request("web", desired);
    made.capacity_provider_strategy = strategy;
    return made;
  }
  std::map<std::string, int> by_provider() {
    std::map<std::string, int> counts;
    for (const auto& [arn, task] : plane.core.state().tasks) {
      if (task.desired_status == model::TaskStatus::Running) ++counts[task.capacity_provider];
    }
    return counts;
  }
};

TEST_F(ServicesOnCapacity, a_service_waits_for_capacity_and_starts_when_it_comes) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  const auto made = create(on({strategy_item("gpus")}, 3));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  run(std::chrono::seconds(10));
  const api::ecs::Service waits = described();
  EXPECT_EQ(waits.pending_count, 3);
  EXPECT_EQ(waits.running_count, 0);
  EXPECT_EQ(waits.deployments[0].failed_tasks, 0);
  EXPECT_FALSE(waits.launch_type.has_value());
  EXPECT_EQ(waits.capacity_provider_strategy[0].capacity_provider, "gpus");
  EXPECT_EQ(waits.capacity_provider_strategy[0].base, 0);
  EXPECT_EQ(waiting(), 3u);
  EXPECT_THAT(events(), Contains(HasSubstr("(service web) waits for capacity")));
  EXPECT_THAT(events(), Contains(HasSubstr("Reason: EMPTY CAPACITY PROVIDER.")));
  EXPECT_THAT(events(), Not(Contains(HasSubstr("steady state"))));

  plane.register_instance("p3.8xlarge", "a");
  run(std::chrono::seconds(20));
  EXPECT_EQ(described().running_count, 3);
  EXPECT_EQ(waiting(), 0u);
  EXPECT_THAT(events(), Contains("(service web) has reached a steady state."));
  model::check_invariants(plane.core.state());
}

TEST_F(ServicesOnCapacity, tasks_that_waited_in_vain_are_started_again_and_count_as_no_failure) {
  have_provider("gpus");
  auto asked = on({strategy_item("gpus")}, 2);
  asked.deployment_configuration.emplace();
  asked.deployment_configuration->deployment_circuit_breaker.emplace();
  asked.deployment_configuration->deployment_circuit_breaker->enable = true;
  asked.deployment_configuration->deployment_circuit_breaker->rollback = true;
  ASSERT_TRUE(create(asked).has_value());
  run(std::chrono::minutes(40));
  EXPECT_EQ(described().pending_count, 2);
  EXPECT_EQ(described().deployments[0].failed_tasks, 0);
  EXPECT_EQ(waiting(), 2u);
  EXPECT_THAT(events(), Not(Contains(HasSubstr("deployment failed"))));
  EXPECT_THAT(events(), Not(Contains(HasSubstr("unable to consistently start"))));
  // One event in six hours, however often it is tried.
  EXPECT_EQ(std::ranges::count_if(
                events(), [](const auto& one) { return one.find("waits for") != one.npos; }),
            1);
}

TEST_F(ServicesOnCapacity, scaling_in_stops_those_that_wait_first) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(on({strategy_item("gpus")}, 6)).has_value());
  run(std::chrono::seconds(20));
  EXPECT_EQ(described().running_count, 4);
  EXPECT_EQ(waiting(), 2u);
  ASSERT_TRUE(scale(4).has_value());
  run(std::chrono::seconds(20));
  EXPECT_EQ(described().running_count, 4);
  EXPECT_EQ(described().pending_count, 0);
  EXPECT_EQ(waiting(), 0u);
  EXPECT_THAT(events(), Contains("(service web) has reached a steady state."));
}

TEST_F(ServicesOnCapacity, a_deleted_services_waiting_tasks_end_at_once) {
  have_provider("gpus");
  ASSERT_TRUE(create(on({strategy_item("gpus")}, 2)).has_value());
  plane.pass(std::chrono::seconds(5));
  api::ecs::DeleteServiceRequest request;
  request.service = "web";
  request.force = true;
  ASSERT_TRUE((plane.call<api::ecs::DeleteServiceResponse>("DeleteService", request).has_value()));
  plane.pass(std::chrono::seconds(1));
  EXPECT_EQ(described().status, "INACTIVE");
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(ServicesOnCapacity, the_strategy_is_kept_as_tasks_come_and_go) {
  have_provider("a", "p3.8xlarge", {"i-a"});
  have_provider("b", "p3.8xlarge", {"i-b"});
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  ASSERT_TRUE(create(on({strategy_item("a", 1, 1), strategy_item("b", 1)}, 5)).has_value());
  run(std::chrono::seconds(20));
  EXPECT_EQ(by_provider(), (std::map<std::string, int>{{"a", 3}, {"b", 2}}));
  for (const auto& [arn, task] : plane.core.state().tasks) {
    if (task.capacity_provider != "b") continue;
    plane.report(arn.str(), "STOPPED", 0);
    break;
  }
  run(std::chrono::seconds(30));
  EXPECT_EQ(by_provider(), (std::map<std::string, int>{{"a", 3}, {"b", 2}}));
}

TEST_F(ServicesOnCapacity, a_new_strategy_rolls_out_and_an_empty_one_takes_the_clusters) {
  have_provider("a", "p3.8xlarge", {"i-a"});
  have_provider("b", "p3.8xlarge", {"i-b"});
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  ASSERT_TRUE(create(on({strategy_item("a")}, 2)).has_value());
  run(std::chrono::seconds(20));
  api::ecs::UpdateServiceRequest request;
  request.service = "web";
  request.capacity_provider_strategy = {strategy_item("b")};
  ASSERT_TRUE(update(request).has_value());
  run(std::chrono::seconds(40));
  EXPECT_EQ(by_provider(), (std::map<std::string, int>{{"b", 2}}));
  ASSERT_TRUE(put({"a", "b"}, {strategy_item("a")}).has_value());
  request.capacity_provider_strategy = api::List<api::ecs::CapacityProviderStrategyItem>();
  request.capacity_provider_strategy.set_present();
  ASSERT_TRUE(update(request).has_value());
  run(std::chrono::seconds(40));
  EXPECT_EQ(by_provider(), (std::map<std::string, int>{{"a", 2}}));
  // A call that does not speak of it leaves it.
  ASSERT_TRUE(scale(3).has_value());
  run(std::chrono::seconds(20));
  EXPECT_EQ(by_provider(), (std::map<std::string, int>{{"a", 3}}));
}

TEST_F(ServicesOnCapacity, waiting_tasks_have_old_ones_make_room_down_to_the_minimum) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  plane.register_instance("p3.8xlarge", "a");
  auto asked = on({strategy_item("gpus")}, 4);
  asked.deployment_configuration.emplace();
  asked.deployment_configuration->minimum_healthy_percent = 50;
  asked.deployment_configuration->maximum_percent = 200;
  ASSERT_TRUE(create(asked).has_value());
  run(std::chrono::seconds(20));
  EXPECT_EQ(described().running_count, 4);
  ASSERT_TRUE(deploy("next").has_value());
  run(std::chrono::minutes(2));
  EXPECT_EQ(tasks_of("next"), 4);
  EXPECT_EQ(tasks_of("web"), 0);
  EXPECT_EQ(described().running_count, 4);
  EXPECT_EQ(waiting(), 0u);
}

TEST_F(ServicesOnCapacity, on_full_gpus_of_the_queue_it_says_that_nothing_can_come_free) {
  plane.register_instance("p3.8xlarge", "own");
  ASSERT_TRUE(create(on({strategy_item("BERTH_QUEUE")}, 4)).has_value());
  run(std::chrono::seconds(20));
  EXPECT_EQ(described().running_count, 4);
  ASSERT_TRUE(deploy("next").has_value());
  run(std::chrono::seconds(30));
  EXPECT_EQ(tasks_of("web"), 4);
  EXPECT_THAT(events(), Contains(HasSubstr("none can come free without stopping a task")));
  api::ecs::TagResourceRequest tag;
  tag.resource_arn = described().service_arn;
  tag.tags.push_back({.key = "berth:gpu-rolling", .value = "replace"});
  ASSERT_TRUE((plane.call<api::ecs::TagResourceResponse>("TagResource", tag).has_value()));
  run(std::chrono::minutes(3));
  EXPECT_EQ(tasks_of("next"), 4);
  EXPECT_EQ(tasks_of("web"), 0);
}

TEST_F(ServicesOnCapacity, what_cannot_be_is_refused) {
  have_provider("gpus");
  auto both = on({strategy_item("gpus")}, 1);
  both.launch_type = api::ecs::LaunchType::Ec2;
  EXPECT_THAT(create(both).error().message, HasSubstr("both a launch type"));
  auto daemon = on({strategy_item("gpus")}, 1);
  daemon.scheduling_strategy = api::ecs::SchedulingStrategy::Daemon;
  daemon.desired_count.reset();
  EXPECT_THAT(create(daemon).error().message, HasSubstr("daemon scheduling strategy"));
  EXPECT_THAT(create(on({strategy_item("none")}, 1)).error().message,
              HasSubstr("none is not associated"));
  EXPECT_TRUE(plane.core.state().services.empty());
  // The cluster's default strategy is not for daemons.
  ASSERT_TRUE(put({"gpus"}, {strategy_item("gpus")}).has_value());
  daemon.capacity_provider_strategy.set_absent();
  const auto made = create(daemon);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->service->launch_type, api::ecs::LaunchType::Ec2);
}

TEST_F(ServicesOnCapacity, a_task_set_has_a_strategy_of_its_own) {
  have_provider("gpus", "p3.8xlarge", {"i-a"});
  plane.register_instance("p3.8xlarge", "a");
  auto external = request("web", 2);
  external.task_definition.reset();
  external.deployment_controller.emplace();
  external.deployment_controller->type = api::ecs::DeploymentControllerType::External;
  ASSERT_TRUE(create(external).has_value());
  api::ecs::CreateTaskSetRequest set;
  set.cluster = "default";
  set.service = "web";
  set.task_definition = "web";
  set.scale.emplace();
  set.scale->value = 100;
  set.capacity_provider_strategy = {strategy_item("gpus")};
  const auto made = plane.call<api::ecs::CreateTaskSetResponse>("CreateTaskSet", set);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->task_set->capacity_provider_strategy[0].capacity_provider, "gpus");
  run(std::chrono::seconds(20));
  EXPECT_EQ(by_provider(), (std::map<std::string, int>{{"gpus", 2}}));
}

}  // namespace
}  // namespace control
