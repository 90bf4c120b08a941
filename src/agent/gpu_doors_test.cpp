#include "agent/gpu_doors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>

#include "agent/testing.h"
#include "json/value.h"

namespace agent {
namespace {

namespace fs = std::filesystem;

TEST(GpuDoorsOfTheMachine, links_and_other_names_are_looked_through) {
  const testing::TemporaryDirectory dir;
  const fs::path node = dir.path() / "innocent";
  if (::mknod(node.c_str(), S_IFCHR | 0600, makedev(nvidia_major, 0)) != 0) {
    GTEST_SKIP() << "this user may not make device nodes";
  }
  EXPECT_TRUE(leads_to_gpu(node));
  fs::create_symlink(node, dir.path() / "link");
  EXPECT_TRUE(leads_to_gpu(dir.path() / "link"));
  EXPECT_TRUE(leads_to_gpu(dir.path())) << "a directory is handed over with all that it holds";
}

TEST(GpuDoorsOfTheMachine, a_link_to_all_devices_is_one) {
  const testing::TemporaryDirectory dir;
  fs::create_symlink("/dev", dir.path() / "devices");
  EXPECT_TRUE(leads_to_gpu(dir.path() / "devices"));
}

TEST(GpuDoorsOfTheMachine, other_devices_pass) {
  EXPECT_FALSE(leads_to_gpu("/dev/null"));
  EXPECT_FALSE(leads_to_gpu("/dev/is-not-there"));
  const auto body = json::parse(R"({"HostConfig":{"Devices":[{"PathOnHost":"/dev/null"}]}})");
  EXPECT_TRUE(check_devices_are_no_gpus(*body));
}

TEST(GpuDoorsOfTheMachine, the_refusal_names_the_path_and_what_to_use) {
  const auto body = json::parse(R"({"HostConfig":{"Devices":[{"PathOnHost":"/dev/../dev"}]}})");
  const auto checked = check_devices_are_no_gpus(*body);
  ASSERT_FALSE(checked);
  EXPECT_NE(checked.error().message.find("/dev/../dev leads to a GPU"), std::string::npos);
  EXPECT_NE(checked.error().message.find("resourceRequirements"), std::string::npos);
}

}  // namespace
}  // namespace agent
