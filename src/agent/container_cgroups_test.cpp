#include "agent/container_cgroups.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/testing.h"
#include "base/format.h"
#include "docker/fake.h"

namespace agent {
namespace {

using container::Processes;

class ContainerCgroupsTest : public ::testing::Test {
 protected:
  ContainerCgroupsTest() {
    docker::RuntimeInfo info = docker_.info().value();
    info.root_dir = root_.path().string();  // It is on this machine.
    docker_.set_info(info);
  }
  void write(const std::string& file, const std::string& text) {
    const std::filesystem::path path = root_.path() / file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  core::ProcessesSeen look(const std::string& id) { return cgroups_.look_at(id); }

  testing::TemporaryDirectory root_;
  docker::FakeRuntime docker_;
  ContainerCgroups cgroups_{docker_, root_.path()};
};

TEST_F(ContainerCgroupsTest, version_2_says_in_one_word_whether_a_cgroup_is_populated) {
  write("cgroup.controllers", "cpu memory\n");
  write("system.slice/docker-abc.scope/cgroup.events", "populated 1\nfrozen 0\n");
  write("docker/def/cgroup.events", "populated 0\nfrozen 0\n");
  EXPECT_EQ(look("abc").left, Processes::Some);
  EXPECT_EQ(look("def").left, Processes::None);
  EXPECT_EQ(look("gone").left, Processes::None);
}

TEST_F(ContainerCgroupsTest, version_1_has_processes_in_the_cgroup_or_below_it) {
  write("freezer/cgroup.procs", "1\n");
  write("freezer/release_agent", "");
  write("freezer/docker/abc/cgroup.procs", "");
  write("freezer/docker/abc/inner/cgroup.procs", "4711\n");
  write("freezer/ecs/t1/def/cgroup.procs", "");
  EXPECT_EQ(look("abc").left, Processes::Some);
  EXPECT_EQ(look("def").left, Processes::None);
  EXPECT_EQ(look("gone").left, Processes::None);
}

TEST_F(ContainerCgroupsTest, what_cannot_be_seen_is_not_called_gone) {
  EXPECT_EQ(look("abc").left, Processes::Unknown);
  EXPECT_NE(look("abc").reason.find("there are no cgroups"), std::string::npos);
  // A part of the tree, as in a namespace of its own.
  write("cgroup.controllers", "cpu memory\n");
  write("cgroup.events", "populated 1\n");
  EXPECT_EQ(look("abc").left, Processes::Unknown);
  EXPECT_NE(look("abc").reason.find("only a part"), std::string::npos);
  // Once a container of this Docker was found there, those that are not found are not there.
  write("docker/def/cgroup.events", "populated 1\n");
  EXPECT_EQ(look("def").left, Processes::Some);
  EXPECT_EQ(look("abc").left, Processes::None);
}

TEST_F(ContainerCgroupsTest, a_docker_of_another_machine_or_without_cgroups_tells_nothing) {
  write("cgroup.controllers", "cpu memory\n");
  docker::RuntimeInfo info = docker_.info().value();
  info.cgroup_driver = "none";
  docker_.set_info(info);
  EXPECT_EQ(look("abc").left, Processes::Unknown);
  EXPECT_NE(look("abc").reason.find("driver none"), std::string::npos);
  info.root_dir = "/nowhere/docker";
  docker_.set_info(info);
  ContainerCgroups elsewhere(docker_, root_.path());
  EXPECT_EQ(elsewhere.look_at("abc").left, Processes::Unknown);
}

TEST_F(ContainerCgroupsTest, ends_what_is_in_the_cgroup) {
  const pid_t child = fork();
  if (child == 0) {
    ::pause();
    _exit(0);
  }
  write("freezer/cgroup.procs", "1\n");
  write("freezer/release_agent", "");
  write("freezer/docker/abc/cgroup.procs", base::format("{}\n", child));
  write("freezer/docker/abc/freezer.state", "FROZEN");
  // A file does not empty itself: it says what was there at the beginning.
  EXPECT_EQ(cgroups_.end("abc").left, Processes::Some);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGKILL);
  std::ifstream state(root_.path() / "freezer/docker/abc/freezer.state");
  std::string word;
  state >> word;
  EXPECT_EQ(word, "THAWED");
}

}  // namespace
}  // namespace agent
