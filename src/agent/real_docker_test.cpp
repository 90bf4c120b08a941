// The agent with a real dockerd: BERTH_TEST_DOCKER=unix:///path names it; without it all of this is
// skipped. BERTH_TEST_IMAGE names an image with a busybox on that daemon (busybox:test).
#include <gmock/gmock.h>

#include <cstdlib>

#include "agent/container_cgroups.h"
#include "agent/testing.h"
#include "base/log.h"
#include "docker/client.h"
#include "gpu/emulated/emulated_devices.h"

namespace agent {
namespace {

using testing::ControlPlane;
using testing::Seen;

class RealDockerAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* host = std::getenv("BERTH_TEST_DOCKER");
    if (host == nullptr) GTEST_SKIP() << "BERTH_TEST_DOCKER names no daemon";
    if (const char* image = std::getenv("BERTH_TEST_IMAGE")) image_ = image;
    base::set_log_level(base::LogLevel::Error);
    docker_ = docker::DockerClient::create(host).value();
    cgroups_.emplace(*docker_);
  }

  void TearDown() override {
    if (docker_ == nullptr) return;
    agent_.reset();
    if (name_.empty()) return;
    const auto left = docker_->list({.labels = {{"berth.agent", name_}}});
    ASSERT_TRUE(left.has_value()) << left.error().message;
    for (const auto& container : *left) {
      EXPECT_TRUE(docker_->remove(container.id, {.force = true, .volumes = true}).has_value());
    }
  }

  void start() {
    AgentOptions options = testing::options_for(plane_, directory_.path());
    options.emulated_instance_type = "p3.8xlarge";
    auto devices = gpu::emulated_devices({.instance_type = "p3.8xlarge",
                                          .seed_name = directory_.path().string(),
                                          .data_dir = directory_.path() / "devices"});
    ASSERT_TRUE(devices.has_value()) << devices.error().message;
    gpus_ = (*devices)->discover()->gpus;
    auto started = Agent::start(options, std::move(*devices),
                                {*docker_, *docker_, *docker_, *cgroups_}, clock_);
    ASSERT_TRUE(started.has_value()) << started.error().message;
    agent_ = std::move(*started);
    name_ = agent_->name();
    ASSERT_TRUE(plane_.await_connected());
  }

  acs::Task script(const std::string& name, const std::string& text) const {
    acs::Task task = testing::with_logs(testing::simple_task(name, image_), true);
    task.containers.front().command = {"sh", "-c", text};
    task.containers.front().stop_timeout = 1;
    return task;
  }

  std::string image_ = "busybox:test";
  base::SystemClock clock_;
  std::unique_ptr<docker::DockerClient> docker_;
  std::optional<ContainerCgroups> cgroups_;
  testing::TemporaryDirectory directory_;
  ControlPlane plane_;
  std::vector<model::GpuDevice> gpus_;
  std::string name_;
  std::unique_ptr<Agent> agent_;  // Last: it goes first.
};

TEST_F(RealDockerAgent, output_is_complete_and_in_order_when_the_task_has_stopped) {
  start();
  plane_.send_task(script("t1",
                          "for i in $(seq 0 499); do echo line $i; done; "
                          "head -c 40000 /dev/zero | tr '\\0' x; echo; printf end; exit 5"));
  ASSERT_TRUE(plane_.await_submit("STOPPED main=STOPPED(5)"));
  const auto lines = plane_.lines("g", "p/main/t1");
  ASSERT_EQ(lines.size(), 502U);
  for (size_t i = 0; i < 500; ++i) EXPECT_EQ(lines[i], base::format("line {}", i));
  EXPECT_EQ(lines[500], std::string(40'000, 'x'));
  EXPECT_EQ(lines[501], "end");
}

TEST_F(RealDockerAgent, nothing_is_lost_or_told_twice_over_restarts_of_the_agent) {
  start();
  plane_.send_task(
      script("t1", "i=0; while [ $i -lt 400 ]; do echo $i; i=$((i+1)); usleep 10000; done"));
  for (size_t count = 50; count <= 250; count += 100) {
    ASSERT_TRUE(plane_.await_lines("g", "p/main/t1", count));
    agent_.reset();
    start();
  }
  ASSERT_TRUE(plane_.await_submit("STOPPED main=STOPPED(0)"));
  const auto lines = plane_.lines("g", "p/main/t1");
  ASSERT_EQ(lines.size(), 400U);
  for (size_t i = 0; i < 400; ++i) EXPECT_EQ(lines[i], base::format("{}", i));
  EXPECT_EQ(plane_.with([](Seen& seen) { return seen.gaps; }), 0U);
}

TEST_F(RealDockerAgent, a_container_sees_just_its_gpus_and_a_sidecar_none) {
  start();
  acs::Task task = script("t1", "nvidia-smi -L; ls /dev | grep nvidia");
  acs::Container side = task.containers.front();
  side.name = "side";
  side.essential = false;
  side.environment["NVIDIA_VISIBLE_DEVICES"] = "all";
  side.command = {"sh", "-c", "ls /dev | grep -c nvidia"};
  task.containers.push_back(side);
  // Once the essential container has ended, no other one is started.
  task.containers.front().depends_on.push_back({"side", "COMPLETE"});
  for (const size_t i : {1U, 3U}) {
    acs::Association& association = task.associations.emplace_back();
    association.type = "gpu";
    association.name = gpus_[i].uuid;
    association.containers = {"main"};
  }
  plane_.send_task(task);
  ASSERT_TRUE(plane_.await(
      [](Seen& seen) { return !seen.submits.empty() && seen.submits.back().status == "STOPPED"; }));
  const auto lines = plane_.lines("g", "p/main/t1");
  ASSERT_EQ(lines.size(), 4U) << ::testing::PrintToString(lines);
  EXPECT_THAT(lines[0], ::testing::HasSubstr(gpus_[1].uuid));
  EXPECT_THAT(lines[1], ::testing::HasSubstr(gpus_[3].uuid));
  EXPECT_EQ(lines[2], "nvidia1");
  EXPECT_EQ(lines[3], "nvidia3");
  ASSERT_TRUE(plane_.await_lines("g", "p/side/t1", 1));
  EXPECT_EQ(plane_.lines("g", "p/side/t1"), std::vector<std::string>{"0"});
  const auto last = plane_.with([](Seen& seen) { return seen.submits.back(); });
  ASSERT_EQ(last.gpu_release.size(), 2U);
  EXPECT_EQ(last.gpu_release[0].empty, true);
  EXPECT_EQ(last.gpu_release[1].empty, true);
}

TEST_F(RealDockerAgent, many_tasks_at_once_run_and_stop) {
  start();
  const size_t count = 10;
  for (size_t i = 0; i < count; ++i) {
    plane_.send_task(script(base::format("t{}", i), "echo up; sleep 600"));
  }
  ASSERT_TRUE(plane_.await([&](Seen& seen) {
    std::set<std::string> running;
    for (const auto& one : seen.submits) {
      if (one.status == "RUNNING") running.insert(*one.task);
    }
    return running.size() == count;
  }));
  EXPECT_TRUE(agent_->stop_all_tasks("The test ends.", std::chrono::seconds(60)));
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(plane_.lines("g", base::format("p/main/t{}", i)), std::vector<std::string>{"up"});
  }
}

}  // namespace
}  // namespace agent
