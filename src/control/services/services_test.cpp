// Services through the API: what they may be, and how they are deployed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "api/json.h"
#include "control/services/testing_services.h"

namespace control {
namespace {

using api::ecs::DeploymentRolloutState;
using api::ecs::ServiceDeploymentStatus;
using ::testing::HasSubstr;
using testing::Services;

TEST_F(Services, a_service_of_gpu_tasks_reaches_its_count_on_two_hosts) {
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  const auto made = create(request("web", 8));
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_EQ(made->service->status, "ACTIVE");
  run(std::chrono::seconds(10));
  const api::ecs::Service service = described();
  EXPECT_EQ(service.running_count, 8);
  EXPECT_EQ(service.pending_count, 0);
  ASSERT_EQ(service.deployments.size(), 1u);
  EXPECT_EQ(service.deployments[0].status, "PRIMARY");
  EXPECT_EQ(service.deployments[0].rollout_state, DeploymentRolloutState::Completed);
  EXPECT_THAT(events(), ::testing::Contains("(service web) has reached a steady state."));
  const api::ecs::Task task = plane.describe(plane.core.state().tasks.begin()->first.str());
  EXPECT_EQ(task.group, "service:web");
  EXPECT_EQ(task.started_by, service.deployments[0].id);
}

TEST_F(Services, what_was_asked_for_is_echoed_for_an_empty_plan) {
  plane.register_instance("p3.8xlarge", "a");
  auto asked = request("web", 2);
  api::ecs::PlacementStrategy strategy;
  strategy.type = api::ecs::PlacementStrategyType::Binpack;
  strategy.field = "memory";
  asked.placement_strategy = {strategy};
  asked.availability_zone_rebalancing = api::ecs::AvailabilityZoneRebalancing::Disabled;
  asked.propagate_tags = api::ecs::PropagateTags::Service;
  asked.enable_ecs_managed_tags = true;
  asked.deployment_configuration.emplace();
  asked.deployment_configuration->maximum_percent = 150;
  asked.deployment_configuration->minimum_healthy_percent = 50;
  api::ecs::Tag tag;
  tag.key = "team";
  tag.value = "vision";
  asked.tags = {tag};
  ASSERT_TRUE(create(asked).has_value());
  const api::ecs::Service service = described();
  EXPECT_EQ(service.placement_strategy, asked.placement_strategy);
  EXPECT_EQ(service.availability_zone_rebalancing, asked.availability_zone_rebalancing);
  EXPECT_EQ(service.propagate_tags, asked.propagate_tags);
  EXPECT_EQ(service.enable_ecs_managed_tags, true);
  EXPECT_EQ(service.tags, asked.tags);
  EXPECT_EQ(service.deployment_configuration->maximum_percent, 150);
  EXPECT_EQ(service.deployment_configuration->minimum_healthy_percent, 50);
  EXPECT_FALSE(service.network_configuration.has_value());
  EXPECT_FALSE(service.capacity_provider_strategy.present());
  EXPECT_EQ(service.launch_type, api::ecs::LaunchType::Ec2);
  EXPECT_EQ(api::print(service).find("networkConfiguration"), std::string::npos);
  const auto& tags = plane.core.state().tasks.begin()->second.tags;
  std::vector<std::string> keys;
  for (const auto& one : tags) keys.push_back(*one.key);
  EXPECT_THAT(keys, ::testing::ElementsAre("team", "aws:ecs:clusterName", "aws:ecs:serviceName"));
}

TEST_F(Services, an_empty_network_configuration_is_left_out) {
  plane.register_instance("p3.8xlarge", "a");
  auto asked = request("web", 1);
  asked.network_configuration.emplace();
  ASSERT_TRUE(create(asked).has_value());
  EXPECT_EQ(api::print(described()).find("networkConfiguration"), std::string::npos);
}

TEST_F(Services, what_cannot_be_is_refused_by_its_name) {
  struct Row {
    std::string what;
    std::string code;
    std::string text;
    std::function<void(api::ecs::CreateServiceRequest&)> spoil;
  };
  const std::vector<Row> rows{
      {"name", "InvalidParameterException", "serviceName", [](auto& r) { r.service_name = "a b"; }},
      {"definition", "ClientException", "TaskDefinition not found.",
       [](auto& r) { r.task_definition = "none"; }},
      {"count", "InvalidParameterException", "desiredCount",
       [](auto& r) { r.desired_count.reset(); }},
      {"negative", "InvalidParameterException", "desiredCount is -1",
       [](auto& r) { r.desired_count = -1; }},
      {"daemon count", "InvalidParameterException", "does not support a desired count",
       [](auto& r) { r.scheduling_strategy = api::ecs::SchedulingStrategy::Daemon; }},
      {"fargate", "ClientException", "FARGATE",
       [](auto& r) { r.launch_type = api::ecs::LaunchType::Fargate; }},
      {"load balancer", "ClientException", "loadBalancers",
       [](auto& r) { r.load_balancers = {api::ecs::LoadBalancer{}}; }},
      {"code deploy", "ClientException", "CODE_DEPLOY",
       [](auto& r) {
         r.deployment_controller.emplace();
         r.deployment_controller->type = api::ecs::DeploymentControllerType::CodeDeploy;
       }},
      {"blue green", "ClientException", "BLUE_GREEN",
       [](auto& r) {
         r.deployment_configuration.emplace();
         r.deployment_configuration->strategy = api::ecs::DeploymentStrategy::BlueGreen;
       }},
      {"maximum", "InvalidParameterException", "maximumPercent is 50",
       [](auto& r) {
         r.deployment_configuration.emplace();
         r.deployment_configuration->maximum_percent = 50;
       }},
      {"rebalancing", "InvalidParameterException", "availabilityZoneRebalancing",
       [](auto& r) {
         r.availability_zone_rebalancing = api::ecs::AvailabilityZoneRebalancing::Enabled;
         r.deployment_configuration.emplace();
         r.deployment_configuration->maximum_percent = 100;
       }},
      {"constraint", "InvalidParameterException", "",
       [](auto& r) {
         api::ecs::PlacementConstraint constraint;
         constraint.type = api::ecs::PlacementConstraintType::MemberOf;
         constraint.expression = "attribute:x ==";
         r.placement_constraints = {constraint};
       }},
  };
  for (const Row& row : rows) {
    auto asked = request("web", 1);
    row.spoil(asked);
    const auto answer = create(asked);
    ASSERT_FALSE(answer.has_value()) << row.what;
    EXPECT_EQ(answer.error().code, row.code) << row.what << ": " << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(row.text)) << row.what;
  }
  EXPECT_TRUE(plane.core.state().services.empty());
}

TEST_F(Services, the_same_call_again_is_the_same_service_and_another_is_refused) {
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(request("web", 1)).has_value());
  ASSERT_TRUE(create(request("web", 1)).has_value());
  EXPECT_EQ(plane.core.state().services.size(), 1u);
  const auto other = create(request("web", 2));
  ASSERT_FALSE(other.has_value());
  EXPECT_THAT(other.error().message, HasSubstr("Creation of service was not idempotent"));
}

TEST_F(Services, a_deployment_rolls_and_leaves_its_record) {
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  ASSERT_TRUE(create(request("web", 4)).has_value());
  run(std::chrono::seconds(10));
  ASSERT_TRUE(deploy("next").has_value());
  const api::ecs::Service rolling = described();
  ASSERT_EQ(rolling.deployments.size(), 2u);
  EXPECT_EQ(rolling.deployments[1].status, "ACTIVE");
  EXPECT_TRUE(rolling.current_service_deployment.has_value());
  run(std::chrono::seconds(30));
  EXPECT_EQ(tasks_of("next"), 4);
  EXPECT_EQ(tasks_of("web"), 0);
  EXPECT_EQ(described().deployments.size(), 1u);

  api::ecs::ListServiceDeploymentsRequest list;
  list.service = "web";
  const auto listed =
      plane.call<api::ecs::ListServiceDeploymentsResponse>("ListServiceDeployments", list);
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->service_deployments.size(), 2u);
  EXPECT_EQ(listed->service_deployments[0].status, ServiceDeploymentStatus::Successful);
  api::ecs::DescribeServiceDeploymentsRequest describe;
  describe.service_deployment_arns = {*listed->service_deployments[0].service_deployment_arn};
  const auto deployments = plane.call<api::ecs::DescribeServiceDeploymentsResponse>(
      "DescribeServiceDeployments", describe);
  ASSERT_TRUE(deployments.has_value());
  ASSERT_EQ(deployments->service_deployments.size(), 1u);
  EXPECT_EQ(deployments->service_deployments[0].source_service_revisions.size(), 1u);
  api::ecs::DescribeServiceRevisionsRequest revisions;
  revisions.service_revision_arns = {
      *deployments->service_deployments[0].target_service_revision->arn};
  const auto found =
      plane.call<api::ecs::DescribeServiceRevisionsResponse>("DescribeServiceRevisions", revisions);
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->service_revisions.size(), 1u);
  EXPECT_THAT(*found->service_revisions[0].task_definition, HasSubstr("/next:1"));
}

TEST_F(Services, a_broken_deployment_is_rolled_back_by_the_circuit_breaker) {
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  auto asked = request("web", 4);
  asked.deployment_configuration.emplace();
  asked.deployment_configuration->deployment_circuit_breaker.emplace();
  asked.deployment_configuration->deployment_circuit_breaker->enable = true;
  asked.deployment_configuration->deployment_circuit_breaker->rollback = true;
  ASSERT_TRUE(create(asked).has_value());
  run(std::chrono::seconds(10));
  ASSERT_TRUE(deploy("bad").has_value());
  run();
  const api::ecs::Service service = described();
  EXPECT_EQ(tasks_of("web"), 4);
  ASSERT_EQ(service.deployments.size(), 1u);
  EXPECT_EQ(service.deployments[0].rollout_state, DeploymentRolloutState::Completed);
  EXPECT_THAT(*service.task_definition, HasSubstr("/web:1"));
  EXPECT_THAT(events(), ::testing::Contains(HasSubstr("deployment failed: tasks failed to start")));
  EXPECT_THAT(events(), ::testing::Contains(HasSubstr("rolling back to deployment")));
}

TEST_F(Services, a_deployment_can_be_stopped_and_rolled_back_by_hand) {
  plane.register_instance("p3.8xlarge", "a");
  ASSERT_TRUE(create(request("web", 2)).has_value());
  run(std::chrono::seconds(10));
  ASSERT_TRUE(deploy("next").has_value());
  api::ecs::StopServiceDeploymentRequest stop;
  stop.service_deployment_arn = *described().current_service_deployment;
  ASSERT_TRUE((plane.call<api::ecs::StopServiceDeploymentResponse>("StopServiceDeployment", stop)
                   .has_value()));
  run(std::chrono::seconds(30));
  EXPECT_EQ(tasks_of("web"), 2);
  EXPECT_EQ(tasks_of("next"), 0);
  const auto again =
      plane.call<api::ecs::StopServiceDeploymentResponse>("StopServiceDeployment", stop);
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code, "ConflictException");
}

}  // namespace
}  // namespace control
