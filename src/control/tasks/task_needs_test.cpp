#include "control/tasks/task_needs.h"

#include <gtest/gtest.h>

#include "api/json.h"

namespace control {
namespace {

using Needs = std::vector<std::string>;

Needs needs_of(const std::string& definition, const std::string& overrides = "") {
  const auto parsed = api::parse<api::ecs::TaskDefinition>(definition);
  EXPECT_TRUE(parsed) << definition;
  if (!parsed) return {};
  std::optional<api::ecs::TaskOverride> given;
  if (!overrides.empty()) given = api::parse<api::ecs::TaskOverride>(overrides).value();
  return needs_of_task(*parsed, given);
}

Needs needs_of_container(const std::string& members) {
  return needs_of(R"({"containerDefinitions":[{"name":"main",)" + members + "}]}");
}

Needs needs_of_volume(const std::string& members) {
  return needs_of(R"({"volumes":[{"name":"v",)" + members + "}]}");
}

TEST(TaskNeeds, an_ordinary_task_needs_nothing) {
  EXPECT_EQ(needs_of(R"({"networkMode":"awsvpc","pidMode":"task","ipcMode":"none",
    "volumes":[{"name":"a"},{"name":"b","host":{}},
               {"name":"c","dockerVolumeConfiguration":{"scope":"task","driver":"local"}}],
    "containerDefinitions":[{"name":"main","privileged":false,"readonlyRootFilesystem":true,
      "environmentFiles":[{"type":"s3","value":"arn:aws:s3:::b/k.env"}],
      "dockerSecurityOptions":["no-new-privileges"],
      "linuxParameters":{"capabilities":{"drop":["ALL"]},"initProcessEnabled":true}}]})"),
            Needs{});
}

TEST(TaskNeeds, whatever_reaches_the_machine_has_its_need) {
  EXPECT_EQ(needs_of_container(R"("privileged":true)"), Needs{"privileged"});
  EXPECT_EQ(needs_of(R"({"networkMode":"host"})"), Needs{"host-network"});
  EXPECT_EQ(needs_of(R"({"pidMode":"host"})"), Needs{"host-pid"});
  EXPECT_EQ(needs_of(R"({"ipcMode":"host"})"), Needs{"host-ipc"});
  EXPECT_EQ(needs_of_container(
                R"("linuxParameters":{"capabilities":{"add":["SYS_PTRACE","NET_ADMIN"]}})"),
            (Needs{"capabilities NET_ADMIN", "capabilities SYS_PTRACE"}));
  EXPECT_EQ(needs_of_container(R"("linuxParameters":{"devices":[{"hostPath":"/dev/fuse"}]})"),
            Needs{"devices"});
  EXPECT_EQ(needs_of_container(R"("dockerSecurityOptions":["label:disable"])"),
            Needs{"security-options"});
  EXPECT_EQ(needs_of_volume(R"("host":{"sourcePath":"/data/../etc/"})"), Needs{"host-paths /etc"});
  EXPECT_EQ(needs_of_volume(R"("host":{"sourcePath":"/run/docker.sock"})"), Needs{"docker-socket"});
  EXPECT_EQ(needs_of_volume(R"("host":{"sourcePath":"/run"})"),
            (Needs{"docker-socket", "host-paths /run"}));
  for (const char* docker :
       {R"("scope":"shared","autoprovision":true)", R"("driver":"nfs")",
        R"("driver":"local","driverOpts":{"type":"none","o":"bind","device":"/etc"})"}) {
    EXPECT_EQ(needs_of_volume(std::string(R"("dockerVolumeConfiguration":{)") + docker + "}"),
              Needs{"docker-volumes"})
        << docker;
  }
  EXPECT_EQ(needs_of_container(R"("environmentFiles":[{"type":"s3","value":"file:///etc/x.env"}])"),
            Needs{"host-paths /etc/x.env"});
  EXPECT_EQ(needs_of("{}", R"({"containerOverrides":[{"name":"main","environmentFiles":[
              {"type":"s3","value":"file:///etc/y.env"}]}]})"),
            Needs{"host-paths /etc/y.env"});
}

}  // namespace
}  // namespace control
