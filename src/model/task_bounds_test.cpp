#include "model/task_bounds.h"

#include <gtest/gtest.h>

namespace model {
namespace {

TaskBounds bounds(const std::vector<std::string>& allow) {
  return parse_task_bounds("", allow).value();
}

TEST(TaskBounds, without_a_word_everything_is_allowed_and_a_shared_machine_allows_nothing) {
  const TaskBounds trusted = parse_task_bounds("", {}).value();
  const TaskBounds shared = parse_task_bounds("shared", {}).value();
  for (const char* need :
       {"privileged", "host-paths /data", "docker-socket", "docker-volumes", "host-network",
        "host-pid", "host-ipc", "capabilities SYS_PTRACE", "devices", "security-options"}) {
    EXPECT_TRUE(permits(trusted, need)) << need;
    EXPECT_FALSE(permits(shared, need)) << need;
  }
}

TEST(TaskBounds, what_is_allowed_is_so_alone_and_with_what_lies_below_it) {
  const TaskBounds some =
      bounds({"privileged", "host-paths=/data:/scratch/", "capabilities=cap_sys_ptrace"});
  EXPECT_TRUE(permits(some, "privileged"));
  EXPECT_FALSE(permits(some, "host-pid"));
  for (const char* path : {"/data", "/data/", "/data/x", "/scratch/a/../b", "//data//x"}) {
    EXPECT_TRUE(permits(some, std::string("host-paths ") + path)) << path;
  }
  for (const char* path : {"/", "/database", "/data/../etc", "/etc", "data", ""}) {
    EXPECT_FALSE(permits(some, std::string("host-paths ") + path)) << path;
  }
  EXPECT_TRUE(permits(some, need_of_capability("SYS_PTRACE")));
  EXPECT_FALSE(permits(some, need_of_capability("CAP_NET_ADMIN")));
  EXPECT_TRUE(permits(bounds({"capabilities=ALL"}), need_of_capability("NET_ADMIN")));
  EXPECT_FALSE(permits(some, need_of_capability("ALL")));
}

TEST(TaskBounds, a_socket_of_docker_needs_its_own_word_and_so_does_a_directory_above_it) {
  using Needs = std::vector<std::string>;
  const auto needs = [](const char* path) {
    return needs_of_host_path(path, sockets_of_runtimes());
  };
  EXPECT_EQ(needs("/var/run/../run//docker.sock"), Needs{"docker-socket"});
  EXPECT_EQ(needs("/var/run"), (Needs{"host-paths /var/run", "docker-socket"}));
  EXPECT_EQ(needs("/"), (Needs{"host-paths /", "docker-socket"}));
  EXPECT_EQ(needs("/data/x/"), Needs{"host-paths /data/x"});
}

TEST(TaskBounds, travel_as_attributes) {
  for (const TaskBounds& one :
       {parse_task_bounds("", {}).value(), parse_task_bounds("shared", {}).value(),
        bounds({"privileged", "host-pid", "host-paths=/data:/scratch",
                "capabilities=SYS_PTRACE:NET_ADMIN"})}) {
    EXPECT_EQ(bounds_of(attributes_of(one)), one);
  }
}

TEST(TaskBounds, a_wrong_option_is_told) {
  EXPECT_FALSE(parse_task_bounds("public", {}));
  EXPECT_FALSE(parse_task_bounds("trusted", {"privileged"}));
  for (const char* wrong : {"everything", "privileged=1", "host-paths",
                            "host-paths=", "host-paths=x", "capabilities", ""}) {
    EXPECT_FALSE(parse_task_bounds("", {wrong})) << wrong;
  }
  EXPECT_FALSE(parse_task_bounds("", {"host-paths=/" + std::string(200, 'x')}));
}

TEST(TaskBounds, a_refusal_says_what_would_allow_it) {
  EXPECT_EQ(not_allowed("host-paths /data"), "host path /data is not allowed");
  EXPECT_EQ(allowed_by("host-paths /data"), "berth agent --allow host-paths=/data");
  EXPECT_EQ(not_allowed("privileged"), "privileged is not allowed");
  EXPECT_EQ(allowed_by("privileged"), "berth agent --allow privileged");
}

TEST(TaskBounds, a_path_that_is_none_allows_nothing) {
  EXPECT_FALSE(permits({.bounded = true, .host_paths = {""}}, "host-paths /etc"));
}

}  // namespace
}  // namespace model
