#include "agent/core/bounds_check.h"

#include <gtest/gtest.h>

#include "agent/core/container_body.h"
#include "agent/core/container_volumes.h"
#include "agent/core/payload.h"
#include "api/json.h"
#include "base/format.h"

namespace agent::core {
namespace {

Config bounded(const std::vector<std::string>& allow) {
  Config made;
  made.bounds = model::parse_task_bounds("shared", allow).value();
  return made;
}

// What a payload of one container with these members, and of these members of the task, is told.
std::string told(const std::string& container, const std::string& task = "",
                 const std::vector<std::string>& allow = {}) {
  auto payload = api::parse<acs::Task>(base::format(
      R"({{"arn":"arn:aws:ecs:r:1:task/c/0123456789abcdef0123456789abcdef","family":"f",
           "version":"2"{}{},"containers":[{{"name":"main","image":"i"{}{}}}]}})",
      task.empty() ? "" : ",", task, container.empty() ? "" : ",", container));
  EXPECT_TRUE(payload) << payload.error().message;
  base::Random random{1};
  Task made = make_task(std::move(*payload), random, base::Time{});
  EXPECT_TRUE(complete_task(made));
  for (const bool trusted : {true, false}) {
    const auto request = create_request(trusted ? Config{} : bounded(allow), made, 0);
    if (trusted) EXPECT_TRUE(request) << request.error().message;
    if (!trusted && !request) return request.error().code + ": " + request.error().message;
  }
  return "";
}

std::string host(const std::string& members) {
  std::string escaped;
  for (const char c : members) escaped += c == '"' ? std::string("\\\"") : std::string(1, c);
  return base::format(R"("dockerConfig":{{"hostConfig":"{{{}}}"}})", escaped);
}

TEST(BoundsCheck, an_ordinary_container_passes) {
  EXPECT_EQ(told(""), "");
  EXPECT_EQ(told(R"("cpu":10,"memory":64,"portMappings":[{"containerPort":80,"hostPort":8080}])"),
            "");
  EXPECT_EQ(told(host(R"("CapDrop":["ALL"],"ReadonlyRootfs":true,"Init":true,"Privileged":false,)"
                      R"("SecurityOpt":["no-new-privileges"],"Devices":[],"PidMode":"")")),
            "");
  EXPECT_EQ(told(R"("mountPoints":[{"sourceVolume":"v","containerPath":"/v"}])",
                 R"("volumes":[{"name":"v"}])"),
            "");
}

TEST(BoundsCheck, what_reaches_the_machine_is_refused_by_the_name_of_its_rule) {
  EXPECT_EQ(told(R"("privileged":true)"),
            "NotAllowedError: privileged is not allowed on this container instance (berth agent "
            "--allow privileged).");
  const auto refused = [](const std::string& text, std::string_view rule) {
    EXPECT_NE(text.find(rule), std::string::npos) << rule << ": " << text;
  };
  refused(told(host(R"("Privileged":true)")), "privileged");
  refused(told("", R"("networkMode":"host")"), "host-network");
  refused(told(host(R"("NetworkMode":"host")")), "host-network");
  refused(told(host(R"("NetworkMode":"container:another")")), "host-network");
  refused(told(host(R"("NetworkMode":"somebodys-network")")), "host-network");
  refused(told("", R"("pidMode":"host")"), "host-pid");
  refused(told(host(R"("PidMode":"container:another")")), "host-pid");
  refused(told("", R"("ipcMode":"host")"), "host-ipc");
  refused(told(host(R"("CapAdd":["cap_sys_admin"])")), "capability SYS_ADMIN");
  refused(told(host(R"("Devices":[{"PathOnHost":"/dev/fuse"}])")), "devices");
  refused(told(host(R"("SecurityOpt":["seccomp=unconfined"])")), "security-options");
  refused(told(host(R"("Binds":["/etc:/etc"])")), "host path /etc");
  refused(told(host(R"("Binds":["/var/run/docker.sock:/s"])")), "docker-socket");
  refused(told(host(R"("Binds":["another-volume:/x"])")), "docker-volumes");
  refused(told(host(R"("VolumesFrom":["another"])")), "docker-volumes");
  refused(told(host(R"("Links":["another:a"])")), "docker-volumes");
  refused(told(R"("mountPoints":[{"sourceVolume":"v","containerPath":"/v"}])",
               R"("volumes":[{"name":"v","host":{"sourcePath":"/etc"}}])"),
          "host path /etc");
  for (const char* docker : {R"("scope":"shared","autoprovision":true)", R"("driver":"plugin")",
                             R"("driverOpts":{"type":"none","o":"bind","device":"/etc"})"}) {
    refused(
        told(R"("mountPoints":[{"sourceVolume":"ecs-v","containerPath":"/v"}])",
             base::format(R"("volumes":[{{"name":"ecs-v","dockerVolumeConfiguration":{{{}}}}}])",
                          docker)),
        "docker-volumes");
  }
}

// Docker reads the names of members in any case, and has more of them than anybody lists.
TEST(BoundsCheck, what_is_not_known_to_be_harmless_is_refused) {
  for (const char* members :
       {R"("privileged":true)", R"("Mounts":[{"Type":"bind","Source":"/etc"}])",
        R"("binds":["/etc:/etc"])", R"("CgroupParent":"/")", R"("UsernsMode":"host")",
        R"("UTSMode":"host")", R"("CgroupnsMode":"host")", R"("DeviceCgroupRules":["a *:* rwm"])",
        R"("MaskedPaths":["x"])", R"("VolumeDriver":"plugin")", R"("Binds":{"0":"/etc:/etc"})"}) {
    EXPECT_TRUE(told(host(members)).starts_with("NotAllowedError: ")) << members;
  }
  for (const char* body : {R"({\"hostconfig\":{\"Privileged\":true}})",
                           R"({\"NetworkingConfig\":{\"EndpointsConfig\":{\"host\":{}}}})",
                           R"({\"HostConfig\":{\"Privileged\":true}})"}) {
    EXPECT_TRUE(told(base::format(R"("dockerConfig":{{"config":"{}"}})", body))
                    .starts_with("NotAllowedError: "))
        << body;
  }
}

TEST(BoundsCheck, what_is_allowed_passes) {
  EXPECT_EQ(told(R"("privileged":true)", "", {"privileged"}), "");
  EXPECT_EQ(told("", R"("networkMode":"host")", {"host-network"}), "");
  EXPECT_EQ(told(host(R"("Binds":["/data/x:/x:ro"])"), "", {"host-paths=/data"}), "");
  EXPECT_EQ(told(host(R"("CapAdd":["SYS_PTRACE"])"), "", {"capabilities=SYS_PTRACE"}), "");
}

}  // namespace
}  // namespace agent::core
