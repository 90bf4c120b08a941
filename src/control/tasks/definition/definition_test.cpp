// Task definitions as wholes: what is filled in, kept, refused by name and required of agents.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "control/tasks/definition/rules.h"
#include "control/tasks/definition/testing_definition.h"
#include "json/value.h"
#include "model/capabilities.h"

namespace control {
namespace {

using namespace definition_testing;
using api::ecs::RegisterTaskDefinitionRequest;
using ::testing::ElementsAre;

TEST(TaskDefinition, the_documented_gpu_example_is_accepted) {
  EmptyPlane plane;
  const auto answer = plane.register_text(R"({
    "family": "gpu-example",
    "containerDefinitions": [{
      "memory": 80, "essential": true, "name": "gpu", "image": "nvidia/cuda:11.0.3-base",
      "resourceRequirements": [{"type": "GPU", "value": "2"}],
      "command": ["sh", "-c", "nvidia-smi"], "cpu": 100,
      "logConfiguration": {"logDriver": "awslogs", "options": {
        "awslogs-group": "gpu-example", "awslogs-region": "us-east-1",
        "awslogs-create-group": "true", "awslogs-stream-prefix": "ecs"}}
    }]})");
  ASSERT_TRUE(answer) << answer.error().message;
  const api::ecs::TaskDefinition& made = *answer->task_definition;
  EXPECT_EQ(made.task_definition_arn,
            "arn:aws:ecs:us-east-1:123456789012:task-definition/gpu-example:1");
  EXPECT_EQ(made.revision, 1);
  EXPECT_EQ(made.status, api::ecs::TaskDefinitionStatus::Active);
  EXPECT_EQ(made.registered_at, plane.step.now);
  EXPECT_EQ(made.registered_by, "arn:aws:iam::123456789012:root");
  EXPECT_TRUE(answer->tags.present());
  const Container& gpu = made.container_definitions.at(0);
  EXPECT_EQ(gpu.resource_requirements.at(0).value, "2");
  EXPECT_EQ(gpu.cpu, 100);
  std::vector<std::string> names;
  for (const auto& attribute : made.requires_attributes) names.push_back(*attribute.name);
  EXPECT_THAT(names, ElementsAre("com.amazonaws.ecs.capability.docker-remote-api.1.19",
                                 "com.amazonaws.ecs.capability.logging-driver.awslogs"));
  EXPECT_THAT(made.compatibilities,
              ElementsAre(api::ecs::Compatibility::Ec2, api::ecs::Compatibility::External));
}

TEST(TaskDefinition, defaults_are_filled_in_as_aws_does) {
  EmptyPlane plane;
  const auto answer = plane.register_text(R"({"family": "web", "memory": "1 GB", "cpu": ".5 vCPU",
    "containerDefinitions": [{"name": "web", "image": "nginx",
                              "portMappings": [{"containerPort": 80}]}]})");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(api::print(answer->task_definition->container_definitions.at(0)),
            R"({"name":"web","image":"nginx","cpu":0,"portMappings":[{"containerPort":80,)"
            R"("hostPort":0,"protocol":"tcp"}],"essential":true,"environment":[],)"
            R"("mountPoints":[],"volumesFrom":[],"systemControls":[]})");
  EXPECT_EQ(answer->task_definition->cpu, "512");
  EXPECT_EQ(answer->task_definition->memory, "1024");
  EXPECT_TRUE(answer->task_definition->volumes.present());
  EXPECT_TRUE(answer->task_definition->placement_constraints.present());
  EXPECT_FALSE(answer->task_definition->network_mode);
  EXPECT_FALSE(answer->task_definition->requires_compatibilities.present());
}

TEST(TaskDefinition, revisions_grow_and_are_never_given_again) {
  EmptyPlane plane;
  for (int32_t revision = 1; revision <= 3; ++revision) {
    const auto answer = plane.register_text(task(""));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->task_definition->revision, revision);
    api::ecs::DeregisterTaskDefinitionRequest gone;
    gone.task_definition = answer->task_definition->task_definition_arn;
    ASSERT_TRUE(ecs::deregister_task_definition(plane.step, gone));
  }
  EXPECT_EQ(plane.describe("train:2").status, api::ecs::TaskDefinitionStatus::Inactive);
  EXPECT_EQ(plane.register_text(task(""))->task_definition->revision, 4);
}

TEST(TaskDefinition, tags_are_answered_and_kept) {
  EmptyPlane plane;
  const auto answer = plane.register_text(task(R"("tags": [{"key": "team", "value": "vision"}])"));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->tags.at(0).key, "team");
  EXPECT_EQ(plane.state.task_definitions.at("train").at(1).tags.at(0).value, "vision");
}

TEST(TaskDefinition, names_and_images_are_checked) {
  const std::string long_name(256, 'a');
  expect_refused({
      {R"({"family": "", "containerDefinitions": []})", client, "Family should not be null"},
      {R"({"family": "a b", "containerDefinitions": []})", client,
       "Family contains invalid characters"},
      {base::format(R"({{"family": "{}", "containerDefinitions": []}})", long_name), client,
       "at most 255"},
      {R"({"containerDefinitions": []})", parameter, "family"},
      {R"({"family": "a"})", parameter, "containerDefinitions"},
      {definition(""), client, "Container list cannot be empty"},
      {definition(R"({"image": "x", "memory": 64})"), client, "Container.name should not be null"},
      {definition(container("", "a/b")), client, "Container.name contains invalid characters"},
      {definition(container("", long_name)), client, "at most 255"},
      {definition(container() + "," + container()), client, "Container names must be unique"},
      {definition(R"({"name": "a", "memory": 64})"), client, "Container.image should not be null"},
      {definition(R"({"name": "a", "memory": 64, "image": "a b"})"), client,
       "Container.image contains invalid characters"},
      {definition(R"({"name": "a", "memory": 64, "image": "a@sha256:12"})"), client,
       "64 hexadecimal"},
      {one(R"("essential": false)"), client, "At least one container should be essential"},
  });
  std::string eleven = container("", "c0");
  for (int i = 1; i <= 10; ++i) eleven += "," + container("", base::format("c{}", i));
  expect_refused({{definition(eleven), client, "11 containers; it can have at most 10"}});
  expect_accepted({
      definition(container("", std::string(255, 'Z'))),
      definition(
          base::format(R"({{"name": "a", "memory": 64, "image": "r.io:5000/a/b#@sha256:{}"}})",
                       std::string(64, 'a'))),
  });
}

TEST(TaskDefinition, the_size_is_limited) {
  const std::string big(66000, 'x');
  expect_refused({{one(base::format(R"("command": ["{}"])", big)), client,
                   "Max allowed length is '65536' bytes"}});
  expect_accepted({one(base::format(R"("command": ["{}"])", big.substr(0, 65000)))});
}

TEST(TaskDefinition, what_berth_does_not_honour_is_refused_by_name) {
  const auto volume = [](const std::string& more) {
    return task(base::format(R"("volumes": [{{"name": "v", {}}}])", more));
  };
  expect_refused({
      {task(R"("taskRoleArn": "arn:aws:iam::1:user/u")"), client, "taskRoleArn is"},
      {task(R"("proxyConfiguration": {"containerName": "main"})"), client, "proxyConfiguration"},
      {task(R"("inferenceAccelerators": [{"deviceName": "a", "deviceType": "b"}])"), client,
       "inferenceAccelerators"},
      {task(R"("ephemeralStorage": {"sizeInGiB": 30})"), client, "ephemeralStorage"},
      {task(R"("enableFaultInjection": true)"), client, "enableFaultInjection"},
      {task(R"("requiresCompatibilities": ["FARGATE"])"), client,
       "requiresCompatibilities is FARGATE, and Berth runs"},
      {task(R"("requiresCompatibilities": ["MANAGED_INSTANCES"])"), client, "EC2 or EXTERNAL"},
      {task(R"("runtimePlatform": {"operatingSystemFamily": "WINDOWS_SERVER_2022_CORE"})"), client,
       "run LINUX"},
      {one(R"("repositoryCredentials": {"credentialsParameter": "a"})"), client,
       "When you are specifying repositoryCredentials, you must also specify a value for "
       "'executionRoleArn'"},
      {one(R"("repositoryCredentials": {"credentialsParameter": ""})"), client,
       "needs credentialsParameter"},
      {one(R"("secrets": [{"name": "A", "valueFrom": "b"}])"), client, "executionRoleArn"},
      {one(R"("secrets": [{"name": "NVIDIA_VISIBLE_DEVICES", "valueFrom": "b"}])"), client,
       "The secret NVIDIA_VISIBLE_DEVICES in secrets has the name of a variable that Berth sets"},
      {one(R"("secrets": [{"name": "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", "valueFrom": "b"}])"),
       client, "has the name of a variable that Berth sets"},
      {one(R"("environment": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}])"), client,
       "sets NVIDIA_VISIBLE_DEVICES to \"all\" in its environment and asks for no GPU"},
      {one(R"("environment": [{"name": "CUDA_MPS_PIPE_DIRECTORY", "value": "/tmp/mps"}])"), client,
       "sets CUDA_MPS_PIPE_DIRECTORY in its environment, which only Berth sets"},
      {one(R"("logConfiguration": {"logDriver": "json-file",
              "secretOptions": [{"name": "A", "valueFrom": "b"}]})"),
       client, "executionRoleArn"},
      {one(R"("logConfiguration": {"logDriver": "awsfirelens"})"), client, "awsfirelens"},
      {one(R"("firelensConfiguration": {"type": "fluentbit"})"), client, "firelensConfiguration"},
      {one(R"("credentialSpecs": ["credentialspec:a"])"), client, "credentialSpecs"},
      {one(R"("dockerSecurityOptions": ["credentialspec:a"])"), client, "credentialspec"},
      {volume(R"("efsVolumeConfiguration": {"fileSystemId": "fs-1"})"), client,
       "volumes[v].efsVolumeConfiguration"},
      {volume(R"("configuredAtLaunch": true)"), client, "configuredAtLaunch"},
  });
}

TEST(TaskDefinition, members_that_ask_for_nothing_are_taken) {
  expect_accepted({
      task(R"("taskRoleArn": "", "enableFaultInjection": false, "inferenceAccelerators": [])"),
      one(R"("environment": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}])"),
      one(R"("environment": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "all"}],
             "resourceRequirements": [{"type": "GPU", "value": "1"}])"),
      task(R"("executionRoleArn": "arn:aws:iam::123456789012:role/ecsTaskExecutionRole")"),
      task(R"("requiresCompatibilities": ["EC2", "EXTERNAL"], "networkMode": "bridge")"),
      task(R"("runtimePlatform": {"operatingSystemFamily": "LINUX", "cpuArchitecture": "ARM64"})"),
      task(R"("pidMode": "host", "ipcMode": "none")"),
      task(R"("pidMode": "task", "ipcMode": "task")"),
      task(R"("volumes": [{"name": "v", "configuredAtLaunch": false}])"),
      one(R"("secrets": [], "environmentFiles": [], "credentialSpecs": [])"),
      one(R"("versionConsistency": "disabled", "interactive": true, "pseudoTerminal": true)"),
  });
}

TEST(TaskDefinition, placement_constraints_and_tags_are_checked) {
  std::string eleven = R"({"type": "memberOf", "expression": "attribute:a == b"})";
  for (int i = 0; i < 10; ++i) eleven += R"(, {"type": "memberOf", "expression": "a == b"})";
  std::string tags = R"({"key": "k"})";
  for (int i = 0; i < 50; ++i) tags += base::format(R"(, {{"key": "k{}"}})", i);
  expect_refused({
      {task(R"("placementConstraints": [{"type": "distinctInstance"}])"), parameter, "type"},
      {task(R"("placementConstraints": [{"expression": "attribute:a == b"}])"), parameter,
       "memberOf"},
      {task(R"("placementConstraints": [{"type": "memberOf"}])"), parameter, "expression"},
      {task(R"("placementConstraints": [{"type": "memberOf", "expression": "attribute:a =="}])"),
       parameter, ""},
      {task(base::format(R"("placementConstraints": [{}])", eleven)), parameter, "at most 10"},
      {task(base::format(R"("tags": [{}])", tags)), parameter, "50"},
      {task(R"("tags": [{"key": "AWS:x"}])"), parameter, "reserved"},
      {task(R"("tags": [{"key": "a"}, {"key": "a"}])"), parameter, "Two tags"},
      {task(R"("tags": [{"value": "a"}])"), parameter, "key"},
  });
  expect_accepted({task(R"("placementConstraints": [{"type": "memberOf",
                           "expression": "attribute:ecs.instance-type == p3.2xlarge"}])")});
}

TEST(TaskDefinition, features_require_the_attributes_that_agents_register) {
  EmptyPlane plane;
  const auto answer = plane.register_text(definition(
      container(R"("privileged": true, "readonlyRootFilesystem": true, "memoryReservation": 32,
                   "stopTimeout": 5, "restartPolicy": {"enabled": true},
                   "healthCheck": {"command": ["CMD", "true"], "startPeriod": 5},
                   "dockerLabels": {"a": "b"}, "dockerSecurityOptions": ["label:disable"],
                   "linuxParameters": {"initProcessEnabled": true, "sharedMemorySize": 64},
                   "logConfiguration": {"logDriver": "fluentd"})"),
      R"("pidMode": "host", "runtimePlatform": {"cpuArchitecture": "ARM64"},
         "volumes": [{"name": "v", "dockerVolumeConfiguration": {"driver": "rexray/ebs"}}])"));
  ASSERT_TRUE(answer) << answer.error().message;
  std::vector<std::string> names;
  for (const auto& attribute : answer->task_definition->requires_attributes) {
    names.push_back(*attribute.name);
    EXPECT_EQ(attribute.value.has_value(), *attribute.name == model::attribute_cpu_architecture);
  }
  EXPECT_THAT(
      names,
      ElementsAre("com.amazonaws.ecs.capability.docker-remote-api.1.17",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.18",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.20",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.21",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.22",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.24",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.25",
                  "com.amazonaws.ecs.capability.docker-remote-api.1.29",
                  "com.amazonaws.ecs.capability.logging-driver.fluentd",
                  "com.amazonaws.ecs.capability.privileged-container",
                  "com.amazonaws.ecs.capability.selinux", "ecs.capability.container-health-check",
                  "ecs.capability.container-ordering", "ecs.capability.container-restart-policy",
                  "ecs.capability.docker-plugin.rexray/ebs",
                  "ecs.capability.pid-ipc-namespace-sharing", "ecs.cpu-architecture"));
}

TEST(TaskDefinition, agents_register_each_capability_once_in_names_of_ecs) {
  std::set<std::string_view> names;
  for (const std::string_view name : model::capabilities_of_every_agent) {
    EXPECT_TRUE(name.starts_with("com.amazonaws.ecs.capability.") ||
                name.starts_with("ecs.capability."))
        << name;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

// Whether all that `part` says stands in `whole`, too; objects may say more there.
bool says(const json::Value& whole, const json::Value& part) {
  if (part.is_object()) {
    return std::ranges::all_of(part.fields(), [&](const json::Field& field) {
      return whole.find(field.name) != nullptr && says(whole[field.name], field.value);
    });
  }
  if (!part.is_array()) return whole == part;
  if (part.items().size() != whole.items().size()) return false;
  for (size_t i = 0; i < part.items().size(); ++i) {
    if (!says(whole.at(i), part.at(i))) return false;
  }
  return true;
}

// A random good definition: each container has each of these features or not.
std::string random_definition() {
  const auto some = [](const std::string& text) { return *rc::gen::arbitrary<bool>() ? text : ""; };
  const int count = *rc::gen::inRange(1, 11);
  std::string containers;
  int port = 1000;
  for (int i = 0; i < count; ++i) {
    std::string text = base::format(R"({{"name": "c{}", "image": "busybox:{}", "memory": {})", i, i,
                                    *rc::gen::inRange(6, 100000));
    text += some(base::format(R"(, "cpu": {})", *rc::gen::inRange(0, 4096)));
    text += some(R"(, "memoryReservation": 6)");
    if (i > 0) text += some(R"(, "essential": false)");
    text += some(base::format(R"(, "portMappings": [{{"containerPort": {0}, "hostPort": {0}}},
                                 {{"containerPort": 80, "protocol": "udp"}}])",
                              ++port));
    text += some(R"(, "environment": [{"name": "Z", "value": "é\n"}, {"name": "A", "value": ""}])");
    text += some(R"(, "command": ["sh", "-c", "echo \"$Z\""], "entryPoint": [])");
    if (i > 0) {
      text += some(base::format(
          R"(, "dependsOn": [{{"containerName": "c{}", "condition": "START"}}])", i - 1));
    }
    text += some(R"(, "resourceRequirements": [{"type": "GPU", "value": "1"}])");
    text += some(R"(, "healthCheck": {"command": ["CMD", "true"], "interval": 7})");
    text += some(R"(, "mountPoints": [{"sourceVolume": "v", "containerPath": "/v"}])");
    text += some(R"(, "ulimits": [{"name": "nofile", "softLimit": 1, "hardLimit": 2}])");
    text += some(R"(, "linuxParameters": {"initProcessEnabled": true, "maxSwap": 0})");
    text += some(R"(, "dockerLabels": {"b": "1", "a": "2"}, "user": "1000:1000")");
    text += some(R"(, "logConfiguration": {"logDriver": "awslogs",
                     "options": {"awslogs-group": "g", "awslogs-stream-prefix": "p"}})");
    containers += (i == 0 ? "" : ", ") + text + "}";
  }
  return definition(containers, std::string(R"("volumes": [{"name": "v", "host": {}}])") +
                                    some(R"(, "networkMode": "bridge")") +
                                    some(R"(, "cpu": "40960", "memory": "1000000")") +
                                    some(R"(, "requiresCompatibilities": ["EC2"])"));
}

TEST(TaskDefinition, a_good_definition_comes_back_as_it_was_registered) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = random_definition();
    EmptyPlane plane;
    const auto answer = plane.register_text(text);
    RC_ASSERT(answer.has_value());
    const api::ecs::TaskDefinition described = plane.describe("train");
    RC_ASSERT(described == *answer->task_definition);
    RC_ASSERT(says(*json::parse(api::print(described)), *json::parse(text)));

    // A client that registers what it was shown gets the same definition: nothing drifts.
    RegisterTaskDefinitionRequest again;
    again.family = described.family;
    again.container_definitions = described.container_definitions;
    again.volumes = described.volumes;
    again.network_mode = described.network_mode;
    again.cpu = described.cpu;
    again.memory = described.memory;
    again.requires_compatibilities = described.requires_compatibilities;
    const auto second = ecs::register_task_definition(plane.step, again);
    RC_ASSERT(second.has_value());
    api::ecs::TaskDefinition expected = described;
    expected.revision = 2;
    expected.task_definition_arn = second->task_definition->task_definition_arn;
    RC_ASSERT(*second->task_definition == expected);

    const std::set<std::string_view> known(model::capabilities_of_every_agent.begin(),
                                           model::capabilities_of_every_agent.end());
    for (const auto& attribute : described.requires_attributes) {
      RC_ASSERT(known.contains(*attribute.name));
    }
  }));
}

}  // namespace
}  // namespace control
