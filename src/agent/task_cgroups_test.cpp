#include "agent/task_cgroups.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "agent/testing.h"

namespace agent {
namespace {

std::string file_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const core::TaskLimits limits{.task_id = "0123", .cpu_milli = 1500, .memory_mib = 64};

TEST(TaskCgroups, version_1_has_a_tree_for_each_controller) {
  const testing::TemporaryDirectory root;
  const CgroupSetup setup{"cgroupfs", "1"};
  const auto parent = make_task_cgroup(limits, setup, {.root = root.path()});
  ASSERT_TRUE(parent) << parent.error().message;
  EXPECT_EQ(*parent, "/ecs/0123");
  EXPECT_EQ(file_text(root.path() / "memory/ecs/0123/memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(file_text(root.path() / "cpu/ecs/0123/cpu.cfs_quota_us"), "150000");
  EXPECT_EQ(file_text(root.path() / "cpu/ecs/0123/cpu.cfs_period_us"), "100000");
  EXPECT_TRUE(make_task_cgroup(limits, setup, {.root = root.path()}))
      << "once more, for the next container";
}

TEST(TaskCgroups, version_2_has_one_tree) {
  const testing::TemporaryDirectory root;
  const auto parent = make_task_cgroup(limits, {"cgroupfs", "2"}, {.root = root.path()});
  ASSERT_TRUE(parent) << parent.error().message;
  EXPECT_EQ(*parent, "/ecs/0123");
  EXPECT_EQ(file_text(root.path() / "ecs/0123/memory.max"), "67108864");
  EXPECT_EQ(file_text(root.path() / "ecs/0123/cpu.max"), "150000 100000");
  EXPECT_EQ(file_text(root.path() / "ecs/cgroup.subtree_control"), "+cpu +memory");
}

TEST(TaskCgroups, what_is_not_limited_gets_no_limit) {
  const testing::TemporaryDirectory root;
  ASSERT_TRUE(make_task_cgroup({.task_id = "0123", .memory_mib = 8}, {"cgroupfs", "2"},
                               {.root = root.path()}));
  EXPECT_FALSE(std::filesystem::exists(root.path() / "ecs/0123/cpu.max"));
  ASSERT_TRUE(make_task_cgroup({.task_id = "0124", .cpu_milli = 1}, {"cgroupfs", "2"},
                               {.root = root.path()}));
  EXPECT_FALSE(std::filesystem::exists(root.path() / "ecs/0124/memory.max"));
  // The kernel's least quota.
  EXPECT_EQ(file_text(root.path() / "ecs/0124/cpu.max"), "1000 100000");
}

TEST(TaskCgroups, an_empty_cgroup_is_removed_in_all_trees) {
  const testing::TemporaryDirectory root;
  for (const char* controller : {"memory", "cpu", "pids"}) {
    std::filesystem::create_directories(root.path() / controller / "ecs/0123");
  }
  remove_task_cgroup("0123", {"cgroupfs", "1"}, {.root = root.path()});
  for (const char* controller : {"memory", "cpu", "pids"}) {
    EXPECT_FALSE(std::filesystem::exists(root.path() / controller / "ecs/0123")) << controller;
  }
  remove_task_cgroup("0123", {"cgroupfs", "1"}, {.root = root.path()});
}

// A systemctl that notes how it was called, and fails for what is in `broken`.
class Systemctl {
 public:
  Systemctl() {
    const std::string path = paths().systemctl;
    std::ofstream(path) << "#!/bin/sh\necho \"$@\" >> " << folder_.path().string()
                        << "/calls\nif [ -e " << folder_.path().string()
                        << "/broken ]; then echo 'Access denied'; exit 1; fi\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  CgroupPaths paths() const {
    return {.root = "/nowhere", .systemctl = (folder_.path() / "systemctl").string()};
  }
  std::string calls() const { return file_text(folder_.path() / "calls"); }
  void break_it() const { std::ofstream(folder_.path() / "broken") << "x"; }

 private:
  testing::TemporaryDirectory folder_;
};

TEST(TaskCgroups, systemd_keeps_a_task_in_a_slice_below_that_of_ecs) {
  for (const char* version : {"1", "2"}) {
    const Systemctl systemctl;
    const auto parent = make_task_cgroup(limits, {"systemd", version}, systemctl.paths());
    ASSERT_TRUE(parent) << parent.error().message;
    EXPECT_EQ(*parent, "ecs-0123.slice");
    EXPECT_EQ(systemctl.calls(),
              "start ecs-0123.slice\n"
              "set-property --runtime ecs-0123.slice MemoryMax=67108864 CPUQuota=150%\n");
  }
}

TEST(TaskCgroups, a_slice_goes_with_its_task_and_takes_its_limits_along) {
  const Systemctl systemctl;
  remove_task_cgroup("0123", {"systemd", "2"}, systemctl.paths());
  EXPECT_EQ(systemctl.calls(), "stop ecs-0123.slice\nrevert ecs-0123.slice\n");
}

TEST(TaskCgroups, systemds_own_words_tell_why_there_is_no_slice) {
  const Systemctl systemctl;
  systemctl.break_it();
  const auto made = make_task_cgroup(limits, {"systemd", "2"}, systemctl.paths());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, "IoError");
  EXPECT_NE(made.error().message.find("Access denied"), std::string::npos) << made.error().message;
}

TEST(TaskCgroups, a_tree_that_cannot_be_written_is_named) {
  const auto made = make_task_cgroup(limits, {"cgroupfs", "1"}, {.root = "/proc/version"});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("/proc/version/memory/ecs/0123"), std::string::npos);
}

}  // namespace
}  // namespace agent
