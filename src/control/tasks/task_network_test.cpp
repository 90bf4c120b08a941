// Network mode awsvpc, from the call to what clients are shown; and the stages of a task.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/testing.h"

namespace control {
namespace {

using ::testing::HasSubstr;
using testing::Plane;

// A cluster with one machine of Berth's, and a definition in mode awsvpc with two containers.
class TaskNetwork : public ::testing::Test {
 protected:
  TaskNetwork() {
    plane.create_cluster();
    api::ecs::RegisterContainerInstanceRequest machine;
    machine.instance_identity_document = R"({"instanceId":"i-1","instanceType":"c5.large"})";
    for (const char* name :
         {"berth.agent", "ecs.capability.task-eni", "ecs.capability.pid-ipc-namespace-sharing"}) {
      machine.attributes.emplace_back().name = name;
    }
    EXPECT_TRUE((plane.call<api::ecs::RegisterContainerInstanceResponse>(
        "RegisterContainerInstance", machine)));
    api::ecs::RegisterTaskDefinitionRequest definition;
    definition.family = "web";
    definition.network_mode = api::ecs::NetworkMode::Awsvpc;
    definition.pid_mode = api::ecs::PidMode::Task;
    for (const char* name : {"main", "side"}) {
      api::ecs::ContainerDefinition& container = definition.container_definitions.emplace_back();
      container.name = name;
      container.image = "busybox";
      container.memory = 64;
      container.essential = container.name == "main";
    }
    definition.container_definitions[0].port_mappings.emplace_back().container_port = 80;
    EXPECT_TRUE((plane.call<api::ecs::RegisterTaskDefinitionResponse>("RegisterTaskDefinition",
                                                                      definition)));
  }

  static api::ecs::RunTaskRequest request() {
    api::ecs::RunTaskRequest made;
    made.task_definition = "web";
    made.network_configuration.emplace().awsvpc_configuration.emplace().subnets = {"subnet-1"};
    return made;
  }
  base::Result<api::ecs::RunTaskResponse> run(const api::ecs::RunTaskRequest& call) {
    return plane.call<api::ecs::RunTaskResponse>("RunTask", call);
  }
  std::string refusal(const api::ecs::RunTaskRequest& call) {
    const auto answer = run(call);
    return answer ? "accepted" : answer.error().code + ": " + answer.error().message;
  }
  std::string start() {
    const auto answer = run(request());
    EXPECT_TRUE(answer && answer->tasks.size() == 1);
    return answer && !answer->tasks.empty() ? *answer->tasks[0].task_arn : "";
  }
  void submit(const std::string& task, const std::string& status, const std::string& stage,
              const std::string& address = "") {
    api::ecs::SubmitTaskStateChangeRequest report;
    report.task = task;
    report.status = status;
    if (!stage.empty()) report.berth_stage = stage;
    for (const char* name : {"main", "side"}) {
      api::ecs::ContainerStateChange& container = report.containers.emplace_back();
      container.container_name = name;
      container.status = status;
      if (!address.empty()) container.network_bindings.emplace_back().bind_ip = address;
    }
    EXPECT_TRUE(
        (plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
  }
  static std::string detail(const api::ecs::Task& task, const std::string& name) {
    for (const auto& pair : task.attachments.at(0).details) {
      if (pair.name == name) return pair.value.value_or("");
    }
    return "";
  }

  Plane plane;
};

TEST_F(TaskNetwork, the_call_must_fit_the_definitions_mode) {
  api::ecs::RunTaskRequest call = request();
  call.network_configuration.reset();
  EXPECT_THAT(refusal(call), HasSubstr("InvalidParameterException: Network Configuration must be "
                                       "provided when networkMode 'awsvpc' is specified"));
  call.network_configuration.emplace();
  EXPECT_THAT(refusal(call), HasSubstr("must be provided")) << "an empty one says nothing";
  call = request();
  call.network_configuration->awsvpc_configuration->subnets.clear();
  EXPECT_THAT(refusal(call), HasSubstr("subnets can not be empty"));
  call = request();
  call.network_configuration->awsvpc_configuration->security_groups = {"sg-1"};
  EXPECT_THAT(refusal(call), HasSubstr("securityGroups is not offered"));
  call = request();
  call.network_configuration->awsvpc_configuration->assign_public_ip =
      api::ecs::AssignPublicIp::Enabled;
  EXPECT_THAT(refusal(call), HasSubstr("assignPublicIp ENABLED is not offered"));
  plane.define("bridged", "");
  call = request();
  call.task_definition = "bridged";
  EXPECT_THAT(refusal(call), HasSubstr("Network Configuration is not valid for the given "
                                       "networkMode of this task definition"));
}

TEST_F(TaskNetwork, ports_of_the_tasks_own_address_are_not_the_machines) {
  for (int i = 0; i < 3; ++i) {
    const auto answer = run(request());
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->tasks.size(), 1U) << "the same port on one machine";
  }
}

TEST_F(TaskNetwork, the_interface_is_shown_as_clients_expect) {
  const std::string arn = start();
  api::ecs::Task task = plane.describe(arn);
  ASSERT_EQ(task.attachments.size(), 1U);
  EXPECT_EQ(task.attachments[0].type, "ElasticNetworkInterface");
  EXPECT_EQ(task.attachments[0].status, "ATTACHING");
  EXPECT_EQ(detail(task, "subnetId"), "subnet-1");
  EXPECT_TRUE(detail(task, "networkInterfaceId").starts_with("eni-"));
  EXPECT_EQ(detail(task, "privateIPv4Address"), "");

  submit(arn, "RUNNING", "", "172.18.0.2");
  task = plane.describe(arn);
  EXPECT_EQ(task.attachments[0].status, "ATTACHED");
  EXPECT_EQ(detail(task, "privateIPv4Address"), "172.18.0.2");
  EXPECT_EQ(detail(task, "macAddress").size(), 17U);
  for (const api::ecs::Container& container : task.containers) {
    EXPECT_TRUE(container.network_bindings.empty());
    ASSERT_EQ(container.network_interfaces.size(), 1U);
    EXPECT_EQ(container.network_interfaces[0].private_ipv4_address, "172.18.0.2");
    EXPECT_EQ(container.network_interfaces[0].attachment_id, task.attachments[0].id);
  }
  submit(arn, "STOPPED", "");
  EXPECT_EQ(plane.describe(arn).attachments[0].status, "DELETED");
}

TEST_F(TaskNetwork, the_stage_is_shown_until_the_task_runs) {
  const std::string arn = start();
  EXPECT_FALSE(plane.describe(arn).berth_stage);
  submit(arn, "PENDING", "PULLING");
  EXPECT_EQ(plane.describe(arn).berth_stage, "PULLING");
  const auto changes = plane.changes.size();
  submit(arn, "PENDING", "PULLING");
  EXPECT_EQ(plane.changes.size(), changes) << "a repeated report changes nothing";
  submit(arn, "PENDING", "STARTING");
  EXPECT_EQ(plane.describe(arn).berth_stage, "STARTING");
  submit(arn, "RUNNING", "");
  EXPECT_FALSE(plane.describe(arn).berth_stage);
  submit(arn, "RUNNING", "GPU-1 is not empty: 1 process (pid 7)");
  EXPECT_EQ(plane.describe(arn).berth_stage, "GPU-1 is not empty: 1 process (pid 7)");
  submit(arn, "STOPPED", "");
  EXPECT_FALSE(plane.describe(arn).berth_stage);
}

TEST_F(TaskNetwork, how_far_a_pull_is_belongs_to_its_stage) {
  const std::string arn = start();
  const auto tell = [&](const char* stage, std::optional<int32_t> percent) {
    api::ecs::SubmitTaskStateChangeRequest report;
    report.task = arn;
    report.status = "PENDING";
    report.berth_stage = stage;
    report.berth_pull_percent = percent;
    EXPECT_TRUE(
        (plane.call<api::ecs::SubmitTaskStateChangeResponse>("SubmitTaskStateChange", report)));
    return plane.describe(arn).berth_pull_percent;
  };
  EXPECT_EQ(tell("PULLING", {}), std::nullopt);
  EXPECT_EQ(tell("PULLING", 40), 40);
  const auto changes = plane.changes.size();
  EXPECT_EQ(tell("PULLING", 40), 40);
  EXPECT_EQ(plane.changes.size(), changes) << "a repeated report changes nothing";
  EXPECT_EQ(tell("PULLING", 4000), 100);
  EXPECT_EQ(tell("PULLING", -1), 0);
  EXPECT_EQ(tell("CREATING", {}), std::nullopt);
  tell("PULLING", 90);
  submit(arn, "RUNNING", "");
  EXPECT_FALSE(plane.describe(arn).berth_pull_percent);
}

}  // namespace
}  // namespace control
