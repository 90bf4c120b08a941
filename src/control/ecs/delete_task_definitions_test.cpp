// Task definitions go for good only when nothing refers to them any more.
#include <gmock/gmock.h>

#include "control/testing.h"

namespace control {
namespace {

using api::ecs::TaskDefinitionStatus;
using ::testing::HasSubstr;
using testing::Plane;

struct Deleting : ::testing::Test {
  Deleting() {
    plane.create_cluster();
    plane.register_instance("c5.2xlarge", "a");
  }

  std::string define() {
    const auto made = plane.register_definition("train");
    EXPECT_TRUE(made) << made.error().message;
    return made->task_definition->task_definition_arn.value_or("");
  }

  void deregister(const std::string& name) {
    api::ecs::DeregisterTaskDefinitionRequest request;
    request.task_definition = name;
    EXPECT_TRUE((plane.call<api::ecs::DeregisterTaskDefinitionResponse>("DeregisterTaskDefinition",
                                                                        request)));
  }

  base::Result<api::ecs::DeleteTaskDefinitionsResponse> remove(std::vector<std::string> names) {
    api::ecs::DeleteTaskDefinitionsRequest request;
    for (std::string& name : names) request.task_definitions.push_back(std::move(name));
    return plane.call<api::ecs::DeleteTaskDefinitionsResponse>("DeleteTaskDefinitions", request);
  }

  // nullopt: gone.
  std::optional<TaskDefinitionStatus> status(const std::string& name) {
    api::ecs::DescribeTaskDefinitionRequest request;
    request.task_definition = name;
    const auto found =
        plane.call<api::ecs::DescribeTaskDefinitionResponse>("DescribeTaskDefinition", request);
    if (!found) return std::nullopt;
    return found->task_definition->status;
  }

  Plane plane;
};

TEST_F(Deleting, one_that_nothing_refers_to_goes_and_its_number_is_not_given_again) {
  define();
  const std::string arn = define();
  deregister(arn);
  const auto answer = remove({"train:2"});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(answer->failures.empty());
  EXPECT_EQ(answer->task_definitions.at(0).task_definition_arn, arn);
  EXPECT_EQ(answer->task_definitions.at(0).status, TaskDefinitionStatus::DeleteInProgress);
  EXPECT_EQ(answer->task_definitions.at(0).delete_requested_at, plane.now);
  plane.pass(std::chrono::minutes(1));
  EXPECT_EQ(status("train:2"), std::nullopt);
  EXPECT_EQ(status("train:1"), TaskDefinitionStatus::Active);
  EXPECT_THAT(define(), HasSubstr("train:3"));

  for (const char* one : {"train:3", "train:1"}) {  // The newest first.
    deregister(one);
    EXPECT_TRUE(remove({one}));
    plane.pass(std::chrono::minutes(1));
  }
  EXPECT_TRUE(plane.core.state().task_definitions.empty());
  EXPECT_THAT(define(), HasSubstr("train:4"));
}

TEST_F(Deleting, a_task_keeps_it_until_it_is_forgotten) {
  const std::string arn = define();
  const auto run = plane.run_task("train");
  ASSERT_EQ(run->tasks.size(), 1U);
  const std::string task = *run->tasks.at(0).task_arn;
  deregister(arn);
  ASSERT_TRUE(remove({arn}));
  EXPECT_FALSE(plane.run_task("train:1"));
  plane.report(task, "RUNNING");
  plane.pass(std::chrono::minutes(5));
  EXPECT_EQ(status(arn), TaskDefinitionStatus::DeleteInProgress);
  plane.report(task, "STOPPED", 0);
  plane.pass(std::chrono::minutes(5));
  EXPECT_EQ(plane.describe(task).last_status, "STOPPED");
  plane.pass(std::chrono::hours(1));
  EXPECT_EQ(status(arn), std::nullopt);
}

TEST_F(Deleting, a_service_goes_on_making_tasks_of_it) {
  const std::string arn = define();
  api::ecs::CreateServiceRequest service;
  service.service_name = "web";
  service.task_definition = arn;
  service.desired_count = 0;
  ASSERT_TRUE((plane.call<api::ecs::CreateServiceResponse>("CreateService", service)));
  deregister(arn);
  ASSERT_TRUE(remove({arn}));
  plane.pass(std::chrono::seconds(20));
  EXPECT_EQ(status(arn), TaskDefinitionStatus::DeleteInProgress);
  api::ecs::UpdateServiceRequest more;
  more.service = "web";
  more.desired_count = 1;
  ASSERT_TRUE((plane.call<api::ecs::UpdateServiceResponse>("UpdateService", more)));
  plane.pass(std::chrono::seconds(10));
  ASSERT_EQ(plane.core.state().tasks.size(), 1U);

  more.desired_count = 0;
  ASSERT_TRUE((plane.call<api::ecs::UpdateServiceResponse>("UpdateService", more)));
  plane.pass(std::chrono::seconds(10));
  plane.report(plane.core.state().tasks.begin()->first.str(), "STOPPED", 0);
  api::ecs::DeleteServiceRequest gone;
  gone.service = "web";
  ASSERT_TRUE((plane.call<api::ecs::DeleteServiceResponse>("DeleteService", gone)));
  plane.pass(std::chrono::hours(3));
  EXPECT_EQ(status(arn), std::nullopt);
}

TEST_F(Deleting, what_cannot_be_deleted_says_why_and_the_rest_is) {
  const std::string active = define();
  const std::string inactive = define();
  deregister(inactive);
  const auto answer = remove({active, "train:9", inactive});
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->failures.size(), 2U);
  EXPECT_EQ(answer->failures.at(0).arn, active);
  EXPECT_EQ(answer->failures.at(0).reason, "ACTIVE");
  EXPECT_THAT(*answer->failures.at(0).detail, HasSubstr("DeregisterTaskDefinition"));
  EXPECT_EQ(answer->failures.at(1).arn, "train:9");
  EXPECT_EQ(answer->failures.at(1).reason, "MISSING");
  ASSERT_EQ(answer->task_definitions.size(), 1U);
  EXPECT_EQ(status(active), TaskDefinitionStatus::Active);
}

TEST_F(Deleting, a_request_that_names_too_many_or_no_revision_changes_nothing) {
  const std::string arn = define();
  deregister(arn);
  for (const auto& names : {std::vector<std::string>(11, arn), std::vector<std::string>{},
                            std::vector<std::string>{arn, "train"}}) {
    const auto answer = remove(names);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, "InvalidParameterException");
    EXPECT_EQ(status(arn), TaskDefinitionStatus::Inactive);
  }
}

}  // namespace
}  // namespace control
