#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "api/json.h"
#include "base/format.h"
#include "control/actions/actions.h"
#include "control/task_definition/rules.h"
#include "control/task_definition/validate.h"
#include "json/value.h"
#include "model/capabilities.h"

namespace control {
namespace {

using api::ecs::RegisterTaskDefinitionRequest;
using testing::ElementsAre;
using testing::HasSubstr;

// A control plane with nothing in it.
struct Plane {
  model::ClusterState state;
  placement::Engine engine;
  base::Random random{7};
  Settings settings;
  Output output;
  Step step{state, engine, random, settings, base::Time(base::Milliseconds(1'700'000'000'123)),
            output};

  Plane() { step.caller.arn = "arn:aws:iam::123456789012:root"; }

  // As the server does: text to a typed request to the action.
  base::Result<api::ecs::RegisterTaskDefinitionResponse> register_text(const std::string& text) {
    return register_task_definition(step, TRY(api::parse<RegisterTaskDefinitionRequest>(text)));
  }
  api::ecs::TaskDefinition describe(const std::string& name) {
    api::ecs::DescribeTaskDefinitionRequest request;
    request.task_definition = name;
    auto answer = describe_task_definition(step, request);
    if (!answer) return {};
    return *answer->task_definition;
  }
};

// A good container with further members: `"cpu": 5, "user": "root"`.
std::string container(const std::string& more = "", const std::string& name = "main") {
  return base::format(R"({{"name": "{}", "image": "busybox:test", "memory": 64{}}})", name,
                      more.empty() ? "" : ", " + more);
}
std::string definition(const std::string& containers, const std::string& more = "") {
  return base::format(R"({{"family": "train", "containerDefinitions": [{}]{}}})", containers,
                      more.empty() ? "" : ", " + more);
}
std::string one(const std::string& more) {
  return definition(container(more));
}
// A good definition with further members of the task.
std::string task(const std::string& more) {
  return definition(container(), more);
}
std::string two(const std::string& first, const std::string& second, const std::string& more = "") {
  return definition(container(first, "a") + ", " + container(second, "b"), more);
}

struct Bad {
  std::string text;
  std::string code;
  std::string message;  // A part of it.
};

void expect_refused(const std::vector<Bad>& table) {
  for (const Bad& bad : table) {
    Plane plane;
    const auto answer = plane.register_text(bad.text);
    ASSERT_FALSE(answer) << "accepted: " << bad.text;
    EXPECT_EQ(answer.error().code, bad.code) << bad.text << "\n" << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(bad.message)) << bad.text;
    EXPECT_TRUE(plane.state.task_definitions.empty()) << bad.text;
    EXPECT_TRUE(plane.output.changes.empty()) << bad.text;
  }
}

void expect_accepted(const std::vector<std::string>& table) {
  for (const std::string& text : table) {
    Plane plane;
    const auto answer = plane.register_text(text);
    EXPECT_TRUE(answer) << text << "\n" << answer.error().message;
  }
}

constexpr auto client = "ClientException";
constexpr auto parameter = "InvalidParameterException";

TEST(TaskDefinition, the_documented_gpu_example_is_accepted) {
  Plane plane;
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
  Plane plane;
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

TEST(TaskDefinition, the_host_network_maps_each_port_to_itself) {
  Plane plane;
  const auto answer = plane.register_text(definition(
      container(R"("portMappings": [{"containerPort": 80}])"), R"("networkMode": "host")"));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->task_definition->container_definitions[0].port_mappings[0].host_port, 80);
}

TEST(TaskDefinition, revisions_grow_and_are_never_given_again) {
  Plane plane;
  for (int32_t revision = 1; revision <= 3; ++revision) {
    const auto answer = plane.register_text(task(""));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->task_definition->revision, revision);
    api::ecs::DeregisterTaskDefinitionRequest gone;
    gone.task_definition = answer->task_definition->task_definition_arn;
    ASSERT_TRUE(deregister_task_definition(plane.step, gone));
  }
  EXPECT_EQ(plane.describe("train:2").status, api::ecs::TaskDefinitionStatus::Inactive);
  EXPECT_EQ(plane.register_text(task(""))->task_definition->revision, 4);
}

TEST(TaskDefinition, tags_are_answered_and_kept) {
  Plane plane;
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

TEST(TaskDefinition, cpu_and_memory_are_checked) {
  const auto bare = [](const std::string& more) {
    return R"({"name": "main", "image": "busybox")" + (more.empty() ? "" : ", " + more) + "}";
  };
  expect_refused({
      {definition(bare("")), client,
       "Invalid setting for container 'main'. At least one of 'memory' or 'memoryReservation' must "
       "be specified."},
      {definition(bare(R"("memory": 0)")), client, "At least one of 'memory'"},
      {definition(bare(R"("memory": 5)")), client, "at least 6 MiB"},
      {definition(bare(R"("memory": -1)")), client, "at least 6 MiB"},
      {definition(bare(R"("memoryReservation": 5)")), client, "memoryReservation is 5"},
      {one(R"("memoryReservation": 65)"), client, "memory (64 MiB) must be greater"},
      {one(R"("cpu": -1)"), client, "cpu is -1"},
      {task(R"("cpu": "64")"), client, "between 128 and 196608"},
      {task(R"("cpu": "much")"), client, "cpu is \"much\""},
      {task(R"("memory": "2 TB")"), client, "memory is \"2 TB\""},
      {task(R"("memory": "5")"), client, "at least 6 MiB"},
      {definition(container(R"("cpu": 200)"), R"("cpu": "128")"), client,
       "The sum of all container 'cpu' values cannot be greater than the value of the task 'cpu'"},
      {task(R"("memory": "32")"), client, "memory (64 MiB) cannot be greater"},
      {two("", "", R"("memory": "100")"), client, "128 MiB against 100 MiB"},
      {R"({"family": "a", "containerDefinitions": [{"memory": "64"}]})", "SerializationException",
       "containerDefinitions[0].memory"},
  });
  expect_accepted({
      definition(bare(R"("memoryReservation": 6)")),
      definition(bare(""), R"("memory": "512")"),
      one(R"("memoryReservation": 64)"),
      two(R"("memoryReservation": 20)", R"("memoryReservation": 20)", R"("memory": "100")"),
      definition(container(R"("cpu": 128)"), R"("cpu": "0.125 vcpu", "memory": "")"),
  });
}

TEST(TaskDefinition, gpu_requirements_in_a_wrong_shape_are_answered_with_the_right_one) {
  const std::string right = R"("resourceRequirements": [{"type": "GPU", "value": ")";
  expect_refused({
      {one(R"("gpu": 2)"), client, right + R"(2"}])"},
      {one(R"("gpus": "4")"), client, right + R"(4"}])"},
      {one(R"("gpus": "all")"), client, right + R"(2"}])"},
      {one(R"("gpuCount": 3)"), client, "member gpuCount, which is not how ECS spells it"},
      {one(R"("gpuCount": {"count": 3})"), client, right},
      {one(R"("resourceRequirements": [{"type": "GPU", "count": 8}])"), client, right + R"(8"}])"},
      {one(R"("resourceRequirements": [{"type": "GPU"}])"), client, right},
      {one(R"("resourceRequirements": [{"type": "GPU", "value": "two"}])"), client, right},
      {one(R"("resourceRequirements": [{"type": "GPU", "value": "0"}])"), client, right},
      {one(R"("resourceRequirements": [{"type": "GPU", "value": "1"}, {"type": "GPU", "value": "1"}])"),
       client, "two resourceRequirements"},
      {one(R"("resourceRequirements": [{"type": "gpu", "value": "1"}])"), parameter,
       "containerDefinitions[0].resourceRequirements[0].type must be one of GPU"},
      {one(R"("resourceRequirements": [{"type": "gpu", "count": 2}])"), parameter, right},
      {one(R"("resourceRequirements": [{"type": "GPU", "value": 1}])"), "SerializationException",
       "resourceRequirements[0].value must be a string"},
      {one(R"("resourceRequirements": [{"type": "NeuronDevice", "value": "ALL"}])"), client,
       "NeuronDevice"},
  });
}

TEST(TaskDefinition, gpus_may_be_whole_or_shared_but_not_both) {
  const std::string whole = R"("resourceRequirements": [{"type": "GPU", "value": "1"}])";
  const std::string shared =
      R"("resourceRequirements": [{"type": "GPU", "sharingStrategy": {"nvidiaMps": {"memory": 512}}}])";
  expect_refused({
      {two(whole, shared), client, "must use the same option"},
      {definition(container(shared), R"("requiresCompatibilities": ["EXTERNAL"])"), client,
       "task definitions that require EXTERNAL cannot"},
  });
  expect_accepted({two(whole, whole), two(shared, shared), two(whole, "")});
  Plane plane;
  const auto answer = plane.register_text(one(shared));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->task_definition->compatibilities, ElementsAre(api::ecs::Compatibility::Ec2));
  EXPECT_EQ(answer->task_definition->requires_attributes.at(0).name, model::capability_gpu_sharing);
}

TEST(TaskDefinition, what_berth_does_not_honour_is_refused_by_name) {
  const auto volume = [](const std::string& more) {
    return task(base::format(R"("volumes": [{{"name": "v", {}}}])", more));
  };
  expect_refused({
      {task(R"("taskRoleArn": "arn:aws:iam::1:role/r")"), client, "taskRoleArn is not offered"},
      {task(R"("networkMode": "awsvpc")"), client, "use bridge, host or none"},
      {task(R"("pidMode": "task")"), client, "pidMode task"},
      {task(R"("ipcMode": "task")"), client, "ipcMode task"},
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
       "containerDefinitions[main].repositoryCredentials is not offered"},
      {one(R"("environmentFiles": [{"type": "s3", "value": "arn:aws:s3:::b/e.env"}])"), client,
       "environmentFiles"},
      {one(R"("secrets": [{"name": "A", "valueFrom": "b"}])"), client, "secrets"},
      {one(R"("logConfiguration": {"logDriver": "json-file",
              "secretOptions": [{"name": "A", "valueFrom": "b"}]})"),
       client, "logConfiguration.secretOptions"},
      {one(R"("logConfiguration": {"logDriver": "awsfirelens"})"), client, "awsfirelens"},
      {one(R"("firelensConfiguration": {"type": "fluentbit"})"), client, "firelensConfiguration"},
      {one(R"("credentialSpecs": ["credentialspec:a"])"), client, "credentialSpecs"},
      {one(R"("dockerSecurityOptions": ["credentialspec:a"])"), client, "credentialspec"},
      {one(R"("portMappings": [{"containerPortRange": "80-90"}])"), client, "containerPortRange"},
      {volume(R"("efsVolumeConfiguration": {"fileSystemId": "fs-1"})"), client,
       "volumes[v].efsVolumeConfiguration"},
      {volume(R"("configuredAtLaunch": true)"), client, "configuredAtLaunch"},
  });
}

TEST(TaskDefinition, members_that_ask_for_nothing_are_taken) {
  expect_accepted({
      task(R"("taskRoleArn": "", "enableFaultInjection": false, "inferenceAccelerators": [])"),
      task(R"("executionRoleArn": "arn:aws:iam::123456789012:role/ecsTaskExecutionRole")"),
      task(R"("requiresCompatibilities": ["EC2", "EXTERNAL"], "networkMode": "bridge")"),
      task(R"("runtimePlatform": {"operatingSystemFamily": "LINUX", "cpuArchitecture": "ARM64"})"),
      task(R"("pidMode": "host", "ipcMode": "none")"),
      task(R"("volumes": [{"name": "v", "configuredAtLaunch": false}])"),
      one(R"("secrets": [], "environmentFiles": [], "credentialSpecs": [])"),
      one(R"("versionConsistency": "disabled", "interactive": true, "pseudoTerminal": true)"),
  });
}

TEST(TaskDefinition, ports_are_checked) {
  const auto ports = [](const std::string& mappings, const std::string& mode = "bridge") {
    return definition(container(base::format(R"("portMappings": [{}])", mappings)),
                      base::format(R"("networkMode": "{}")", mode));
  };
  expect_refused({
      {ports(R"({"hostPort": 80})"), client,
       "Invalid 'containerPort' setting for container 'main'."},
      {ports(R"({"containerPort": 0})"), client, "It is 0"},
      {ports(R"({"containerPort": 65536})"), client, "between 1 and 65535"},
      {ports(R"({"containerPort": 80, "hostPort": 65536})"), client, "Invalid 'hostPort'"},
      {ports(R"({"containerPort": 80, "hostPort": -1})"), client, "Invalid 'hostPort'"},
      {ports(R"({"containerPort": 80, "hostPort": 81})", "host"), client,
       "the host ports and container ports in port mappings must match"},
      {ports(R"({"containerPort": 80})", "none"), client, "networkMode=none"},
      {ports(R"({"containerPort": 80, "hostPort": 90}, {"containerPort": 81, "hostPort": 90})"),
       client, "The host port 90/tcp is mapped twice"},
      {ports(R"({"containerPort": 80}, {"containerPort": 80})", "host"), client, "80/tcp"},
      {two(R"("portMappings": [{"containerPort": 80, "hostPort": 90}])",
           R"("portMappings": [{"containerPort": 80, "hostPort": 90}])"),
       client, "container 'b'. The host port 90/tcp is mapped twice"},
      {ports(R"({"containerPort": 80, "protocol": "sctp"})"), parameter, "protocol"},
      {ports(R"({"containerPort": 80, "name": "-x"})"), client, "port mapping name"},
      {ports(R"({"containerPort": 80, "name": "x"}, {"containerPort": 81, "name": "x"})"), client,
       "Two port mappings"},
      {one(R"("disableNetworking": true, "portMappings": [{"containerPort": 80}])"), client,
       "disableNetworking"},
  });
  expect_accepted({
      ports(R"({"containerPort": 80, "hostPort": 0}, {"containerPort": 80})"),
      ports(R"({"containerPort": 53, "hostPort": 53}, {"containerPort": 53, "hostPort": 53,
               "protocol": "udp", "name": "dns", "appProtocol": "http"})"),
      ports(R"({"containerPort": 80, "hostPort": 80})", "host"),
  });
}

TEST(TaskDefinition, links_are_checked) {
  expect_refused({
      {two("", R"("links": ["c"])"), client, "a container that the task does not have"},
      {two("", R"("links": ["b"])"), client, "the container itself"},
      {two("", R"("links": ["a:"])"), client, "name:alias"},
      {two("", R"("links": ["a"])", R"("networkMode": "host")"), client,
       "Links are only supported when networkMode=bridge"},
      {two(R"("disableNetworking": true)", R"("links": ["a"])"), client, "disableNetworking"},
      {two(R"("links": ["b"])", R"("links": ["a"])"), client, "in a circle"},
  });
  expect_accepted({two("", R"("links": ["a:database"])")});
}

TEST(TaskDefinition, dependencies_are_checked) {
  const auto on_a = [](const std::string& condition) {
    return base::format(R"("dependsOn": [{{"containerName": "a", "condition": "{}"}}])", condition);
  };
  const std::string healthy = R"("healthCheck": {"command": ["CMD", "true"]})";
  expect_refused({
      {two("", R"("dependsOn": [{"containerName": "x", "condition": "START"}])"), client,
       "a container that the task does not have: 'x'"},
      {two("", R"("dependsOn": [{"containerName": "b", "condition": "START"}])"), client,
       "the container itself"},
      {two("", on_a("SUCCESS")), client,
       "A dependency container with SUCCESS or COMPLETE condition cannot be an essential "
       "container"},
      {two("", on_a("COMPLETE")), client, "essential to false"},
      {two("", on_a("HEALTHY")), client, "which has no healthCheck"},
      {two(R"("healthCheck": {"command": ["NONE"]})", on_a("HEALTHY")), client, "no healthCheck"},
      {two("", on_a("RUNNING")), parameter, "condition"},
      {two(R"("dependsOn": [{"containerName": "b", "condition": "START"}])", on_a("START")), client,
       "in a circle (dependsOn, links and volumesFrom): a -> b -> a"},
      {two(R"("volumesFrom": [{"sourceContainer": "b"}])", on_a("START")), client, "in a circle"},
  });
  expect_accepted({two("", on_a("START")), two(R"("essential": false)", on_a("SUCCESS")),
                   two(R"("essential": false)", on_a("COMPLETE")), two(healthy, on_a("HEALTHY"))});
}

TEST(TaskDefinition, volumes_are_checked) {
  const auto mount = [](const std::string& path, const std::string& volumes) {
    return definition(
        container(base::format(R"("mountPoints": [{{"sourceVolume": "v", "containerPath": "{}"}}])",
                               path)),
        base::format(R"("volumes": [{}])", volumes));
  };
  const std::string v = R"({"name": "v"})";
  expect_refused({
      {mount("/data", ""), client, "Unknown volume 'v'."},
      {mount("data", v), client, "absolute path"},
      {mount("/var/run/nvidia-container-devices/all", v), client, "resourceRequirements"},
      {task(base::format(R"("volumes": [{0}, {0}])", v)), client, "Volume names must be unique"},
      {task(R"("volumes": [{"name": "a b"}])"), client, "volume name"},
      {task(R"("volumes": [{}])"), client, "volume name"},
      {task(R"("volumes": [{"name": "v", "host": {"sourcePath": "data"}}])"), client,
       "absolute path"},
      {task(R"("volumes": [{"name": "v", "host": {"sourcePath": "/dev/nvidia0"}}])"), client,
       "resourceRequirements"},
      {task(R"("volumes": [{"name": "v", "host": {"sourcePath": "/data"},
               "dockerVolumeConfiguration": {"driver": "local"}}])"),
       client, "give one of them"},
      {one(R"("volumesFrom": [{"sourceContainer": "x"}])"), client, "volumesFrom names"},
      {definition(container(R"("mountPoints": [{"sourceVolume": "v", "containerPath": "/d"},
                                {"sourceVolume": "v", "containerPath": "/d"}])"),
                  R"("volumes": [{"name": "v"}])"),
       client, "two volumes are mounted at /d"},
  });
  expect_accepted({
      mount("/data", v),
      mount("/data", R"({"name": "v", "host": {}})"),
      mount("/data", R"({"name": "v", "host": {"sourcePath": "/data"}})"),
      mount("/data", R"({"name": "v", "dockerVolumeConfiguration": {"scope": "shared",
                         "autoprovision": true, "driver": "local"}})"),
  });
}

TEST(TaskDefinition, health_checks_restarts_and_timeouts_are_checked) {
  const auto health = [](const std::string& command, const std::string& more = "") {
    return one(base::format(R"("healthCheck": {{"command": [{}]{}}})", command, more));
  };
  const auto restart = [](const std::string& more) {
    return one(base::format(R"("restartPolicy": {{"enabled": true{}}})", more));
  };
  std::string codes = "1";
  for (int i = 2; i <= 51; ++i) codes += base::format(", {}", i);
  expect_refused({
      {health(""), client, "healthCheck.command must begin with CMD"},
      {health(R"("curl", "x")"), client, "healthCheck.command must begin with CMD"},
      {health(R"("CMD-SHELL")"), client, "nothing behind CMD-SHELL"},
      {health(R"("NONE", "x")"), client, "must stand alone"},
      {health(R"("CMD", "x")", R"(, "interval": 4)"), client, "between 5 and 300"},
      {health(R"("CMD", "x")", R"(, "timeout": 61)"), client, "between 2 and 60"},
      {health(R"("CMD", "x")", R"(, "retries": 11)"), client, "between 1 and 10"},
      {health(R"("CMD", "x")", R"(, "startPeriod": 301)"), client, "between 0 and 300"},
      {restart(R"(, "restartAttemptPeriod": 59)"), client, "between 60 and 1800"},
      {restart(base::format(R"(, "ignoredExitCodes": [{}])", codes)), client, "at most 50"},
      {one(R"("restartPolicy": {})"), parameter, "enabled"},
      {one(R"("startTimeout": 0)"), client, "startTimeout is 0"},
      {one(R"("stopTimeout": -1)"), client, "stopTimeout is -1"},
      {one(R"("environment": [{"name": "", "value": "x"}])"), client, "must not be empty"},
      {one(R"("environment": [{"name": "A=B", "value": "x"}])"), client, "no \"=\""},
      {one(R"("extraHosts": [{"hostname": "", "ipAddress": "1.2.3.4"}])"), client, "extraHosts"},
  });
  expect_accepted({
      health(R"("CMD-SHELL", "exit 0")", R"(, "interval": 5, "timeout": 2, "retries": 1)"),
      health(R"("NONE")"),
      restart(R"(, "restartAttemptPeriod": 60, "ignoredExitCodes": [0])"),
      one(R"("startTimeout": 120, "stopTimeout": 0)"),
      one(R"("environment": [{"name": "A", "value": ""}])"),
  });
}

TEST(TaskDefinition, linux_settings_are_checked) {
  const auto linux_part = [](const std::string& part) {
    return one(base::format(R"("linuxParameters": {{{}}})", part));
  };
  const auto controls = [](const std::string& name, const std::string& more = "") {
    return definition(
        container(base::format(R"("systemControls": [{{"namespace": "{}", "value": "1"}}])", name)),
        more);
  };
  expect_refused({
      {linux_part(R"("capabilities": {"add": ["CAP_NET_ADMIN"]})"), client, "without CAP_"},
      {linux_part(R"("capabilities": {"drop": ["X"]})"), client, "no Linux capability"},
      {linux_part(R"("devices": [{"hostPath": "dev"}])"), client, "absolute path"},
      {linux_part(R"("devices": [{"hostPath": "/dev/nvidia0"}])"), client,
       R"("resourceRequirements": [{"type": "GPU")"},
      {linux_part(R"("tmpfs": [{"containerPath": "/t", "size": 0}])"), client, "1 MiB or more"},
      {linux_part(R"("tmpfs": [{"containerPath": "/t", "size": 1, "mountOptions": ["x"]}])"),
       client, "no mount option"},
      {linux_part(R"("sharedMemorySize": 0)"), client, "sharedMemorySize"},
      {linux_part(R"("maxSwap": -1)"), client, "maxSwap"},
      {linux_part(R"("maxSwap": 0, "swappiness": 101)"), client, "between 0 and 100"},
      {definition(R"({"name": "a", "image": "b", "memoryReservation": 64,
                     "linuxParameters": {"maxSwap": 10}})"),
       client, "give memory, too"},
      {one(R"("ulimits": [{"name": "nofile", "softLimit": 2, "hardLimit": 1}])"), client,
       "must not be greater"},
      {one(R"("ulimits": [{"name": "nofile", "softLimit": -1, "hardLimit": 1}])"), client,
       "must not be greater"},
      {one(R"("ulimits": [{"name": "cpu", "softLimit": 1, "hardLimit": 1},
                          {"name": "cpu", "softLimit": 1, "hardLimit": 1}])"),
       client, "given twice"},
      {one(R"("ulimits": [{"name": "files", "softLimit": 1, "hardLimit": 1}])"), parameter, "name"},
      {controls("vm.swappiness"), client, "systemControls has the namespace \"vm.swappiness\""},
      {controls("net.core.somaxconn", R"("networkMode": "host")"), client, "network mode host"},
      {controls("kernel.shmmax", R"("ipcMode": "host")"), client, "ipcMode host"},
      {one(R"("systemControls": [{"namespace": "net.a"}])"), client, "needs a value"},
      {one(R"("dockerSecurityOptions": ["seccomp=unconfined"])"), client, "dockerSecurityOptions"},
  });
  expect_accepted({
      linux_part(R"("capabilities": {"add": ["SYS_PTRACE"], "drop": ["ALL"]}, "maxSwap": 0,
                    "tmpfs": [{"containerPath": "/t", "size": 1, "mountOptions": ["mode=1777"]}],
                    "devices": [{"hostPath": "/dev/fuse", "permissions": ["read"]}])"),
      one(R"("ulimits": [{"name": "memlock", "softLimit": -1, "hardLimit": -1}])"),
      controls("net.core.somaxconn"),
      controls("fs.mqueue.msg_max"),
      one(R"("dockerSecurityOptions": ["no-new-privileges", "apparmor:docker-default"])"),
  });
}

TEST(TaskDefinition, log_configurations_are_checked) {
  const auto log = [](const std::string& driver, const std::string& options) {
    return one(base::format(R"("logConfiguration": {{"logDriver": "{}", "options": {{{}}}}})",
                            driver, options));
  };
  expect_refused({
      {log("awslogs", ""), client, "Log driver awslogs requires options: awslogs-group."},
      {log("awslogs", R"("awslogs-group": "a b")"), client, "the name of a log group"},
      {log("awslogs", R"("awslogs-group": "a", "awslogs-colour": "red")"), client,
       "Log driver awslogs disallows options: awslogs-colour."},
      {log("awslogs", R"("awslogs-group": "a", "awslogs-stream-prefix": "a:b")"), client,
       "log stream"},
      {log("awslogs", R"("awslogs-group": "a", "awslogs-create-group": "yes")"), client,
       "true or false"},
      {log("awslogs", R"("awslogs-group": "a", "mode": "fast")"), client, "non-blocking"},
      {log("awslogs", R"("awslogs-group": "a", "awslogs-multiline-pattern": "^x")"), client,
       "awslogs-multiline-pattern is not offered by this version of Berth"},
      {log("json-file", R"("awslogs-group": "a")"), client,
       "Log driver json-file disallows options: awslogs-group."},
      {log("splunk", R"("splunk-url": "a")"), client, "requires options: splunk-token"},
      {log("gelf", ""), client, "requires options: gelf-address"},
      {log("none", ""), parameter, "logDriver"},
  });
  expect_accepted({
      log("awslogs", R"("awslogs-group": "/ecs/train", "mode": "non-blocking",
                        "max-buffer-size": "4m")"),
      log("json-file", R"("max-size": "10m")"),
      log("journald", ""),
      log("syslog", R"("syslog-address": "udp://10.0.0.1:514")"),
      log("fluentd", ""),
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
  Plane plane;
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
    Plane plane;
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
    const auto second = register_task_definition(plane.step, again);
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
