#include "control/ecs/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/testing.h"
#include "json/value.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using testing::Plane;

api::ecs::RunTaskRequest dry(const std::string& family, int32_t count = 1) {
  api::ecs::RunTaskRequest request;
  request.task_definition = family;
  request.count = count;
  request.berth_explain = true;
  return request;
}

json::Value document_of(const api::ecs::BerthExplanation& explanation) {
  auto parsed = json::parse(explanation.document.value_or(""));
  EXPECT_TRUE(parsed.has_value()) << explanation.document.value_or("");
  return parsed ? *parsed : json::Value();
}

std::vector<bool> placeable(const api::ecs::RunTaskResponse& response) {
  std::vector<bool> list;
  for (const auto& one : response.berth_explanation) {
    list.push_back(document_of(one)["placeable"].as_bool().value_or(false));
  }
  return list;
}

Plane gpu_plane() {
  Plane plane;
  plane.create_cluster();
  plane.define("two", "2");
  plane.define("huge", "16");
  plane.define("greedy", "5", 900'000, 90'000);
  plane.register_instance("p3.8xlarge", "a");
  plane.register_instance("p3.8xlarge", "b");
  return plane;
}

TEST(Explain, starts_nothing_writes_nothing_and_uses_no_client_token_up) {
  Plane plane = gpu_plane();
  const size_t changes = plane.changes.size();
  api::ecs::RunTaskRequest request = dry("two");
  request.client_token = "once";
  for (int i = 0; i < 2; ++i) {
    const auto told = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
    ASSERT_TRUE(told);
    EXPECT_TRUE(told->tasks.empty());
    EXPECT_TRUE(told->failures.empty());
    EXPECT_EQ(placeable(*told), std::vector{true});
  }
  EXPECT_EQ(plane.changes.size(), changes);
  EXPECT_TRUE(plane.core.state().tasks.empty());
  request.berth_explain.reset();
  EXPECT_EQ((plane.call<api::ecs::RunTaskResponse>("RunTask", request))->tasks.size(), 1U);
}

TEST(Explain, each_task_of_a_count_sees_those_before_it) {
  Plane plane = gpu_plane();
  const auto told = plane.call<api::ecs::RunTaskResponse>("RunTask", dry("two", 6));
  ASSERT_TRUE(told);
  EXPECT_EQ(placeable(*told), (std::vector{true, true, true, true, false, false}));
  EXPECT_EQ(plane.run_task("two", 6)->tasks.size(), 4U);
  model::check_invariants(plane.core.state());
}

// Two planes of the same seed; one is asked for explanations all the time.
TEST(Explain, later_decisions_are_as_if_nobody_had_asked) {
  Plane asked = gpu_plane();
  Plane quiet = gpu_plane();
  for (int round = 0; round < 6; ++round) {
    static_cast<void>(asked.call<api::ecs::RunTaskResponse>("RunTask", dry("two", 3)));
    static_cast<void>(asked.call<api::ecs::RunTaskResponse>("RunTask", dry("huge")));
    const auto a = asked.run_task("two");
    const auto b = quiet.run_task("two");
    ASSERT_TRUE(a && b);
    EXPECT_EQ(*a, *b);
    if (round == 3) {
      asked.report(asked.core.state().tasks.begin()->first.str(), "STOPPED", 0);
      quiet.report(quiet.core.state().tasks.begin()->first.str(), "STOPPED", 0);
    }
  }
}

TEST(Explain, a_bad_expression_is_refused_as_by_the_real_call) {
  Plane plane = gpu_plane();
  api::ecs::RunTaskRequest request = dry("two");
  api::ecs::PlacementConstraint constraint;
  constraint.type = api::ecs::PlacementConstraintType::MemberOf;
  constraint.expression = "attribute:a ==";
  request.placement_constraints.push_back(constraint);
  const auto told = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, "InvalidParameterException");
}

TEST(Explain, start_task_is_explained_for_each_instance_and_starts_nothing) {
  Plane plane = gpu_plane();
  const auto& instances = plane.core.state().instances;
  api::ecs::StartTaskRequest request;
  request.task_definition = "two";
  request.berth_explain = true;
  const std::string first = instances.begin()->first.str();
  request.container_instances = {first, first, first, "none"};
  const auto told = plane.call<api::ecs::StartTaskResponse>("StartTask", request);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->berth_explanation.size(), 3U);
  std::vector<bool> fits;
  for (const auto& one : told->berth_explanation) {
    fits.push_back(document_of(one)["placeable"].as_bool().value_or(false));
  }
  EXPECT_EQ(fits, (std::vector{true, true, false}));
  EXPECT_THAT(*told->berth_explanation[2].text, HasSubstr("needs 2 GPUs; 0 free of 4"));
  EXPECT_EQ(told->failures.at(0).reason, "MISSING");
  EXPECT_TRUE(plane.core.state().tasks.empty());
}

TEST(Explain, of_a_task_tells_what_it_holds_and_what_starting_it_again_would_do) {
  Plane plane = gpu_plane();
  const std::string task = *plane.run_task("two")->tasks.at(0).task_arn;
  api::ecs::DescribeTasksRequest request;
  request.tasks = {task, "none"};
  request.berth_explain = true;
  const auto told = plane.call<api::ecs::DescribeTasksResponse>("DescribeTasks", request);
  ASSERT_TRUE(told);
  ASSERT_EQ(told->berth_explanation.size(), 1U);
  const api::ecs::BerthExplanation& one = told->berth_explanation[0];
  EXPECT_EQ(one.task_arn, task);
  EXPECT_THAT(*one.text, HasSubstr("is PENDING on instance"));
  EXPECT_THAT(*one.text, HasSubstr("If it were started again now"));
  const json::Value document = document_of(one);
  EXPECT_EQ(document["task"]["taskArn"].text_or(""), task);
  EXPECT_EQ(document["task"]["gpus"].items().size(), 2U);
  EXPECT_EQ(document["task"]["gpus"].at(0)["state"].text_or(""), "DEDICATED");
  EXPECT_EQ(document["startedAgain"]["placeable"].as_bool(), true);
}

TEST(Explain, of_a_stopped_task_says_so) {
  Plane plane = gpu_plane();
  const std::string task = *plane.run_task("two")->tasks.at(0).task_arn;
  plane.report(task, "STOPPED", 3);
  api::ecs::DescribeTasksRequest request;
  request.tasks = {task};
  request.berth_explain = true;
  const auto told = plane.call<api::ecs::DescribeTasksResponse>("DescribeTasks", request);
  EXPECT_THAT(*told->berth_explanation.at(0).text, HasSubstr("it holds nothing"));
  EXPECT_TRUE(document_of(told->berth_explanation[0])["task"]["gpus"].items().empty());
}

TEST(FailureDetail, names_all_that_blocks_and_the_smallest_change) {
  Plane plane = gpu_plane();
  const auto greedy = plane.run_task("greedy");
  ASSERT_EQ(greedy->failures.size(), 1U);
  const std::string detail = greedy->failures[0].detail.value_or("");
  EXPECT_EQ(greedy->failures[0].reason, "RESOURCE:CPU");
  EXPECT_THAT(detail, HasSubstr("90000 CPU units"));
  EXPECT_THAT(detail, HasSubstr("900000 MiB of memory"));
  EXPECT_THAT(detail, HasSubstr("5 GPUs"));
  EXPECT_THAT(detail, HasSubstr("To place it: "));

  ASSERT_EQ(plane.run_task("two", 3)->tasks.size(), 3U);
  ASSERT_TRUE(plane.run_task("two"));
  const auto full = plane.run_task("two", 2);
  ASSERT_EQ(full->failures.size(), 2U);
  EXPECT_EQ(full->failures[0], full->failures[1]);
  EXPECT_THAT(*full->failures[0].detail, HasSubstr("wait for task"));
}

TEST(FailureDetail, is_of_the_nearest_instance_alone_where_all_would_take_long) {
  Plane plane = gpu_plane();
  for (size_t i = 2; i < ecs::most_instances_explained; ++i) {
    plane.register_instance("c5.large", std::to_string(i));
  }
  EXPECT_THAT(*plane.run_task("huge")->failures.at(0).detail, HasSubstr("To place it: "));
  plane.register_instance("c5.large", "one more");
  const std::string detail = *plane.run_task("huge")->failures.at(0).detail;
  EXPECT_THAT(detail, HasSubstr("16 GPUs; no instance has more than 4"));
  EXPECT_THAT(detail, ::testing::Not(HasSubstr("To place it: ")));
}

TEST(FailureDetail, is_bounded) {
  Plane plane = gpu_plane();
  plane.define("wordy", "16");
  api::ecs::RunTaskRequest request;
  request.task_definition = "wordy";
  for (int i = 0; i < 5; ++i) {
    api::ecs::PlacementConstraint constraint;
    constraint.type = api::ecs::PlacementConstraintType::MemberOf;
    constraint.expression = "attribute:a" + std::to_string(i) + " in [" +
                            std::string(1500, static_cast<char>('a' + i)) + "]";
    request.placement_constraints.push_back(constraint);
  }
  const auto told = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  ASSERT_TRUE(told);
  const std::string detail = told->failures.at(0).detail.value_or("");
  EXPECT_LE(detail.size(), ecs::most_detail_bytes);
  EXPECT_THAT(detail, ::testing::EndsWith("..."));
}

}  // namespace
}  // namespace control
