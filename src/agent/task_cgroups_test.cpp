#include "agent/task_cgroups.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "agent/testing.h"

namespace agent {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const core::TaskLimits limits{.task_id = "0123", .cpu_milli = 1500, .memory_mib = 64};

TEST(TaskCgroups, version_1_has_a_tree_for_each_controller) {
  const testing::TemporaryDirectory root;
  const CgroupSetup setup{"cgroupfs", "1"};
  const auto parent = make_task_cgroup(limits, setup, root.path());
  ASSERT_TRUE(parent) << parent.error().message;
  EXPECT_EQ(*parent, "/ecs/0123");
  EXPECT_EQ(text_of(root.path() / "memory/ecs/0123/memory.limit_in_bytes"), "67108864");
  EXPECT_EQ(text_of(root.path() / "cpu/ecs/0123/cpu.cfs_quota_us"), "150000");
  EXPECT_EQ(text_of(root.path() / "cpu/ecs/0123/cpu.cfs_period_us"), "100000");
  EXPECT_TRUE(make_task_cgroup(limits, setup, root.path())) << "once more, for the next container";
}

TEST(TaskCgroups, version_2_has_one_tree) {
  const testing::TemporaryDirectory root;
  const auto parent = make_task_cgroup(limits, {"cgroupfs", "2"}, root.path());
  ASSERT_TRUE(parent) << parent.error().message;
  EXPECT_EQ(*parent, "/ecs/0123");
  EXPECT_EQ(text_of(root.path() / "ecs/0123/memory.max"), "67108864");
  EXPECT_EQ(text_of(root.path() / "ecs/0123/cpu.max"), "150000 100000");
  EXPECT_EQ(text_of(root.path() / "ecs/cgroup.subtree_control"), "+cpu +memory");
}

TEST(TaskCgroups, what_is_not_limited_gets_no_limit) {
  const testing::TemporaryDirectory root;
  ASSERT_TRUE(
      make_task_cgroup({.task_id = "0123", .memory_mib = 8}, {"cgroupfs", "2"}, root.path()));
  EXPECT_FALSE(std::filesystem::exists(root.path() / "ecs/0123/cpu.max"));
  ASSERT_TRUE(
      make_task_cgroup({.task_id = "0124", .cpu_milli = 1}, {"cgroupfs", "2"}, root.path()));
  EXPECT_FALSE(std::filesystem::exists(root.path() / "ecs/0124/memory.max"));
  // The kernel's least quota.
  EXPECT_EQ(text_of(root.path() / "ecs/0124/cpu.max"), "1000 100000");
}

TEST(TaskCgroups, an_empty_cgroup_is_removed_in_all_trees) {
  const testing::TemporaryDirectory root;
  for (const char* controller : {"memory", "cpu", "pids"}) {
    std::filesystem::create_directories(root.path() / controller / "ecs/0123");
  }
  remove_task_cgroup("0123", {"cgroupfs", "1"}, root.path());
  for (const char* controller : {"memory", "cpu", "pids"}) {
    EXPECT_FALSE(std::filesystem::exists(root.path() / controller / "ecs/0123")) << controller;
  }
  remove_task_cgroup("0123", {"cgroupfs", "1"}, root.path());
}

TEST(TaskCgroups, a_tree_that_cannot_be_written_is_named) {
  const auto made = make_task_cgroup(limits, {"cgroupfs", "1"}, "/proc/version");
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("/proc/version/memory/ecs/0123"), std::string::npos);
}

}  // namespace
}  // namespace agent
