// What a container of a task definition may ask for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/tasks/definition/testing_definition.h"
#include "model/capabilities.h"

namespace control {
namespace {

using namespace definition_testing;
using ::testing::ElementsAre;

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
  });
  expect_accepted({two(whole, whole), two(shared, shared), two(whole, ""),
                   definition(container(shared), R"("requiresCompatibilities": ["EXTERNAL"])")});
  EmptyPlane plane;
  const auto answer = plane.register_text(one(shared));
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_THAT(answer->task_definition->compatibilities,
              ElementsAre(api::ecs::Compatibility::Ec2, api::ecs::Compatibility::External));
  EXPECT_EQ(answer->task_definition->requires_attributes.at(0).name, model::capability_gpu_sharing);
}

TEST(TaskDefinition, environment_files_are_checked) {
  const auto file = [](const std::string& value) {
    return one(base::format(R"("environmentFiles": [{{"type": "s3", "value": "{}"}}])", value));
  };
  expect_refused({
      {file("app.env"), client, "must be the ARN of an object of S3"},
      {file("arn:aws:s3:::bucket"), client, "arn:aws:s3:::bucket/app.env"},
      {file("file://app.env"), client, "file:///etc/app.env"},
      {file("arn:aws:s3:::bucket/app.txt"), client, "must end in .env"},
      {one(R"("environmentFiles": [{"value": "file:///a.env"}])"), parameter, "type"},
      {one(R"("environmentFiles": [{"type": "http", "value": "file:///a.env"}])"), parameter,
       "type"},
  });
  std::string eleven;
  for (int i = 0; i < 11; ++i) {
    eleven += std::string(i == 0 ? "" : ",") + R"({"type": "s3", "value": "file:///a.env"})";
  }
  expect_refused(
      {{one(base::format(R"("environmentFiles": [{}])", eleven)), client, "at most 10"}});
  expect_accepted({file("arn:aws:s3:::bucket/a/app.env"), file("s3://bucket/app.env"),
                   file("file:///etc/app.env")});
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
      {task(R"("volumes": [{"name": "v", "host": {"sourcePath": "//dev/./x/../nvidia0"}}])"),
       client, "resourceRequirements"},
      {mount("/var//run/./nvidia-container-devices/all", v), client, "resourceRequirements"},
      {task(R"("volumes": [{"name": "v", "dockerVolumeConfiguration": {"driver": "local",
               "driverOpts": {"type": "none", "o": "bind", "device": "//dev/nvidia0"}}}])"),
       client, "resourceRequirements"},
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
      {linux_part(R"("devices": [{"hostPath": "/dev/./nvidia0"}])"), client,
       "resourceRequirements"},
      {linux_part(R"("devices": [{"hostPath": "//dev/"}])"), client, "resourceRequirements"},
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
      definition(R"({"name": "app", "image": "a", "memory": 8, "logConfiguration": {
                     "logDriver": "splunk", "options": {"splunk-url": "a"},
                     "secretOptions": [{"name": "splunk-token", "valueFrom": "token"}]}})",
                 R"("executionRoleArn": "executor")"),
      log("awslogs", R"("awslogs-group": "/ecs/train", "mode": "non-blocking",
                        "max-buffer-size": "4m")"),
      log("json-file", R"("max-size": "10m")"),
      log("journald", ""),
      log("syslog", R"("syslog-address": "udp://10.0.0.1:514")"),
      log("fluentd", ""),
  });
}

}  // namespace
}  // namespace control
