#include "control/core.h"

#include <gtest/gtest.h>

#include <set>

#include "control/testing.h"
#include "model/records.h"

namespace control {
namespace {

using testing::Plane;

std::set<std::string> gpu_ids_of(const api::ecs::Task& task) {
  std::set<std::string> ids;
  for (const auto& container : task.containers) {
    ids.insert(container.gpu_ids.begin(), container.gpu_ids.end());
  }
  return ids;
}

template <class Message>
std::vector<Message> sent_of(const Plane& plane) {
  std::vector<Message> found;
  for (const ToAgent& message : plane.sent) {
    if (const auto* const one = std::get_if<Message>(&message.message)) found.push_back(*one);
  }
  return found;
}

TEST(RunTask, answers_with_the_physical_gpus_and_never_gives_one_twice) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("p3.8xlarge", "a");
  plane.define("train", "2");
  const auto first = plane.run_task("train", 3);
  ASSERT_TRUE(first);
  ASSERT_EQ(first->tasks.size(), 2U);
  ASSERT_EQ(first->failures.size(), 1U);
  EXPECT_EQ(first->failures[0].reason, "RESOURCE:GPU");
  const auto a = gpu_ids_of(first->tasks[0]);
  const auto b = gpu_ids_of(first->tasks[1]);
  EXPECT_EQ(a.size(), 2U);
  EXPECT_EQ(b.size(), 2U);
  for (const std::string& gpu : a) EXPECT_FALSE(b.contains(gpu));
  model::check_invariants(plane.core.state());
}

TEST(RunTask, a_gpu_is_free_again_only_when_its_task_is_reported_stopped) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("p3.2xlarge", "a");
  plane.define("train", "1");
  const std::string task = *plane.run_task("train")->tasks.at(0).task_arn;
  plane.report(task, "RUNNING");
  api::ecs::StopTaskRequest stop;
  stop.task = task;
  ASSERT_TRUE((plane.call<api::ecs::StopTaskResponse>("StopTask", stop)));
  EXPECT_EQ(plane.run_task("train")->failures.at(0).reason, "RESOURCE:GPU");
  plane.report(task, "STOPPED", 137);
  EXPECT_EQ(plane.run_task("train")->tasks.size(), 1U);
  const api::ecs::Task stopped = plane.describe(task);
  EXPECT_EQ(stopped.stop_code, api::ecs::TaskStopCode::UserInitiated);
  EXPECT_EQ(stopped.containers.at(0).exit_code, 137);
  EXPECT_EQ(gpu_ids_of(stopped).size(), 1U);
}

TEST(RunTask, the_same_client_token_gets_the_same_tasks_and_other_parameters_a_conflict) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  api::ecs::RunTaskRequest request;
  request.task_definition = "cpu";
  request.client_token = "token-1";
  const auto first = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  const auto again = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  ASSERT_TRUE(first && again);
  EXPECT_EQ(first->tasks.at(0).task_arn, again->tasks.at(0).task_arn);
  EXPECT_EQ(plane.core.state().tasks.size(), 1U);
  request.count = 2;
  const auto other = plane.call<api::ecs::RunTaskResponse>("RunTask", request);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "ConflictException");
}

TEST(Reports, a_status_never_goes_back_and_repeats_change_nothing) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  plane.report(task, "RUNNING");
  const auto started = plane.describe(task);
  plane.report(task, "RUNNING");
  EXPECT_EQ(plane.describe(task), started);
  plane.report(task, "STOPPED", 3);
  const auto stopped = plane.describe(task);
  EXPECT_EQ(stopped.last_status, "STOPPED");
  EXPECT_EQ(stopped.stop_code, api::ecs::TaskStopCode::EssentialContainerExited);
  plane.report(task, "RUNNING");
  EXPECT_EQ(plane.describe(task), stopped);
}

TEST(Sessions, a_new_session_gets_the_manifest_and_what_was_not_acknowledged) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("p3.2xlarge", "a");
  plane.define("train", "1");
  const std::string task = *plane.run_task("train")->tasks.at(0).task_arn;
  plane.step(SessionOpened{1, model::ClusterName("default"), instance});
  const auto manifests = sent_of<acs::TaskManifestMessage>(plane);
  ASSERT_EQ(manifests.size(), 1U);
  ASSERT_EQ(manifests[0].tasks.size(), 1U);
  auto payloads = sent_of<acs::PayloadMessage>(plane);
  ASSERT_EQ(payloads.size(), 1U);
  const acs::Task& sent = payloads[0].tasks.at(0);
  EXPECT_EQ(sent.arn, task);
  ASSERT_EQ(sent.associations.size(), 1U);
  EXPECT_EQ(sent.associations[0].containers, std::vector<std::string>{"main"});

  acs::AckRequest ack;
  ack.message_id = payloads[0].message_id;
  plane.step(SessionMessage{1, ack});
  plane.sent.clear();
  plane.step(SessionOpened{2, model::ClusterName("default"), instance});
  EXPECT_TRUE(sent_of<acs::PayloadMessage>(plane).empty());
}

TEST(Sessions, an_unacknowledged_payload_is_sent_again) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  plane.step(SessionOpened{1, model::ClusterName("default"), instance});
  ASSERT_TRUE(plane.run_task("cpu"));
  EXPECT_EQ(sent_of<acs::PayloadMessage>(plane).size(), 1U);
  plane.pass(std::chrono::seconds(16));
  EXPECT_EQ(sent_of<acs::PayloadMessage>(plane).size(), 2U);
}

TEST(RunTask, in_a_cluster_that_nothing_has_joined_is_refused) {
  Plane plane;
  plane.create_cluster();
  plane.define("cpu", "");
  const auto refused = plane.run_task("cpu");
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ("InvalidParameterException", refused.error().code);
  EXPECT_TRUE(
      refused.error().message.starts_with("No Container Instances were found in your cluster."))
      << refused.error().message;
  const auto unknown = plane.run_task("none");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ("TaskDefinition not found.", unknown.error().message);
}

TEST(ListTasks, of_a_service_takes_its_name_or_arn_and_refuses_another) {
  Plane plane;
  plane.create_cluster();
  api::ecs::ListTasksRequest request;
  request.service_name = "none";
  const auto refused = plane.call<api::ecs::ListTasksResponse>("ListTasks", request);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ("ServiceNotFoundException", refused.error().code);
}

TEST(Sessions, an_agent_that_never_connects_or_goes_away_gets_no_tasks) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  EXPECT_EQ(plane.run_task("cpu")->tasks.size(), 1U);  // Its first minute.
  plane.pass(std::chrono::seconds(61));
  EXPECT_EQ(plane.run_task("cpu")->failures.at(0).reason, "AGENT");
  plane.step(SessionOpened{1, model::ClusterName("default"), instance});
  EXPECT_EQ(plane.run_task("cpu")->tasks.size(), 1U);
  plane.step(SessionClosed{1, {}});
  plane.pass(std::chrono::seconds(11));
  EXPECT_EQ(plane.run_task("cpu")->failures.at(0).reason, "AGENT");
}

TEST(Sessions, a_stop_candidate_that_is_still_wanted_is_not_confirmed) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  const std::string wanted = *plane.run_task("cpu")->tasks.at(0).task_arn;
  plane.step(SessionOpened{1, model::ClusterName("default"), instance});
  acs::TaskStopVerificationMessage ask;
  ask.message_id = sent_of<acs::TaskManifestMessage>(plane).at(0).message_id;
  ask.stop_candidates = {
      {wanted, "default", "STOPPED"},
      {model::task_arn({}, model::ClusterName("default"), "old").str(), "default", "STOPPED"}};
  plane.step(SessionMessage{1, ask});
  const auto acks = sent_of<acs::TaskStopVerificationAck>(plane);
  ASSERT_EQ(acks.size(), 1U);
  ASSERT_EQ(acks[0].stop_tasks.size(), 1U);
  EXPECT_NE(acks[0].stop_tasks[0].task_arn, wanted);
}

TEST(Instances, one_that_registers_again_keeps_its_tasks_and_takes_new_figures) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("p3.2xlarge", "a");
  plane.define("train", "1");
  ASSERT_EQ(plane.run_task("train")->tasks.size(), 1U);
  api::ecs::RegisterContainerInstanceRequest again;
  again.container_instance_arn = instance.str();
  again.instance_identity_document = R"({"instanceId":"i-a","instanceType":"p3.8xlarge"})";
  ASSERT_TRUE((
      plane.call<api::ecs::RegisterContainerInstanceResponse>("RegisterContainerInstance", again)));
  const auto& found = plane.core.state().instances.at(instance);
  EXPECT_EQ(found.cpu_units, 32 * 1024);
  EXPECT_EQ(found.tasks.size(), 1U);
  ASSERT_EQ(found.gpus.size(), 1U);  // Held, so it stays, marked as gone.
  EXPECT_FALSE(found.gpus[0].device.healthy);
  model::check_invariants(plane.core.state());
}

TEST(Instances, forced_deregistration_gives_the_tasks_up) {
  Plane plane;
  plane.create_cluster();
  const model::InstanceArn instance = plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  api::ecs::DeregisterContainerInstanceRequest request;
  request.container_instance = instance.str();
  EXPECT_FALSE((plane.call<api::ecs::DeregisterContainerInstanceResponse>(
      "DeregisterContainerInstance", request)));
  request.force = true;
  ASSERT_TRUE((plane.call<api::ecs::DeregisterContainerInstanceResponse>(
      "DeregisterContainerInstance", request)));
  EXPECT_EQ(plane.describe(task).last_status, "STOPPED");
}

TEST(Expiry, stopped_tasks_are_described_for_an_hour) {
  Plane plane;
  plane.create_cluster();
  plane.register_instance("c5.2xlarge", "a");
  plane.define("cpu", "");
  const std::string task = *plane.run_task("cpu")->tasks.at(0).task_arn;
  plane.report(task, "STOPPED", 0);
  plane.pass(std::chrono::minutes(59));
  EXPECT_EQ(plane.core.state().tasks.size(), 1U);
  plane.pass(std::chrono::minutes(2));
  EXPECT_TRUE(plane.core.state().tasks.empty());
}

TEST(Operations, are_found_by_their_service_and_what_is_not_there_is_named) {
  EXPECT_NE(find_action("ecs", "RunTask"), nullptr);
  EXPECT_NE(find_action("autoscaling", "DescribeTags"), nullptr);
  EXPECT_EQ(find_action("ec2", "RunTask"), nullptr);
  EXPECT_EQ(find_action("ecs", "ListGateways"), nullptr);
  EXPECT_EQ(find_action("s3", "RunTask"), nullptr);
  EXPECT_NE(not_offered("ecs", "ListGateways").message.find("ListGateways"), std::string::npos);
}

}  // namespace
}  // namespace control
