#include "agent/gpu_access.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/container_process.h"
#include "agent/testing.h"
#include "agent/testing_processes.h"
#include "gpu/fake_devices.h"

namespace agent {
namespace {

using ::testing::HasSubstr;

class GpuAccessTest : public ::testing::Test {
 protected:
  GpuAccessTest() {
    auto devices = std::make_unique<gpu::FakeDevices>();
    fake_ = devices.get();
    fake_->inventory.gpus.push_back({.uuid = "GPU-a"});
    access_.emplace(std::move(devices), processes_);
  }
  core::GpuUse probe() {
    const auto result = access_->probe({"GPU-a"});
    EXPECT_TRUE(result.has_value());
    return std::get<core::GpuUse>(*result);
  }

  gpu::FakeDevices* fake_ = nullptr;  // Owned by access_.
  testing::FakeProcesses processes_;
  std::optional<GpuAccess> access_;
};

TEST_F(GpuAccessTest, what_was_on_a_gpu_at_the_start_does_not_count) {
  fake_->uses["GPU-a"] = {.processes = {{.pid = 999'999'990, .used_mib = 300}}, .used_mib = 300};
  access_->take_baselines(fake_->inventory);
  EXPECT_TRUE(probe().empty);
  fake_->uses["GPU-a"].used_mib = 340;
  EXPECT_TRUE(probe().empty);
  fake_->uses["GPU-a"].used_mib = 1324;
  EXPECT_FALSE(probe().empty);
  EXPECT_EQ(probe().detail, "1024 MiB above its baseline");
}

TEST_F(GpuAccessTest, a_process_that_stayed_is_named) {
  access_->take_baselines(fake_->inventory);
  fake_->uses["GPU-a"] = {.processes = {{.pid = 999'999'991, .used_mib = 1024}}, .used_mib = 1024};
  EXPECT_FALSE(probe().empty);
  EXPECT_EQ(probe().detail, "1 process (pid 999999991), 1024 MiB above its baseline");
  fake_->uses.clear();
  EXPECT_TRUE(probe().empty);
}

TEST_F(GpuAccessTest, is_not_empty_while_a_container_that_had_it_has_processes) {
  access_->take_baselines(fake_->inventory);
  processes_.named["c1"] = {core::Processes::Some, {}};
  processes_.named["c2"] = {core::Processes::Unknown, "there are no cgroups in /sys/fs/cgroup"};
  const auto probe = [&](std::vector<std::string> containers) {
    const auto result =
        access_->probe({.uuid = "GPU-a", .containers = std::move(containers), .sharers = {}});
    return std::get<core::GpuUse>(result.value());
  };
  EXPECT_EQ(probe({"c0", "c1"}).detail, "container c1, which had it, has processes still");
  EXPECT_FALSE(probe({"c0", "c1"}).empty);
  EXPECT_EQ(probe({"c2"}).detail,
            "whether container c2, which had it, has ended cannot be told: there are no cgroups in "
            "/sys/fs/cgroup");
  EXPECT_FALSE(probe({"c2"}).empty);
  EXPECT_TRUE(probe({"c0"}).empty);
}

TEST_F(GpuAccessTest, baselines_of_an_earlier_process_are_kept) {
  fake_->uses["GPU-a"] = {.processes = {{.pid = 999'999'992}}, .used_mib = 50};
  const GpuBaselines before = access_->take_baselines(fake_->inventory);
  EXPECT_EQ(parse_baselines(print_baselines(before)), before);
  EXPECT_TRUE(parse_baselines("garbage").empty());
  access_->set_baselines({});
  EXPECT_FALSE(probe().empty);
  access_->set_baselines(before);
  EXPECT_TRUE(probe().empty);
}

TEST_F(GpuAccessTest, an_unknown_gpu_is_not_found_and_not_given) {
  const auto result = access_->probe({"GPU-x"});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().cause, core::Cause::NotFound);
  const auto setup = access_->setup({.uuids = {"GPU-x"}, .sharing = {}});
  ASSERT_FALSE(setup.has_value());
  EXPECT_EQ(setup.error().code, "CannotCreateContainerError");
  EXPECT_EQ(setup.error().cause, core::Cause::BadParameter);
  EXPECT_THAT(setup.error().message, HasSubstr("GPU-x is not on this container instance"));
}

TEST_F(GpuAccessTest, a_share_of_a_gpu_is_refused_where_mps_is_missing_and_why) {
  fake_->inventory.mps.missing = "nvidia-cuda-mps-control is not on this machine.";
  ASSERT_TRUE(access_->discover());
  const auto setup = access_->setup({.uuids = {"GPU-a"}, .sharing = core::GpuSharing{}});
  ASSERT_FALSE(setup.has_value());
  EXPECT_EQ(setup.error().code, "CannotCreateContainerError");
  EXPECT_THAT(setup.error().message, HasSubstr("nvidia-cuda-mps-control is not on this machine."));
}

TEST_F(GpuAccessTest, a_share_is_of_one_gpu) {
  fake_->inventory.gpus.push_back({.uuid = "GPU-b"});
  const auto setup = access_->setup({.uuids = {"GPU-a", "GPU-b"}, .sharing = core::GpuSharing{}});
  ASSERT_FALSE(setup.has_value());
  EXPECT_EQ(setup.error().cause, core::Cause::BadParameter);
}

// A process of this machine that has the name of NVIDIA's server.
class NamedChild {
 public:
  NamedChild() {
    int ready[2];
    EXPECT_EQ(pipe(ready), 0);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_NAME, "nvidia-cuda-mps-server");
      static_cast<void>(!write(ready[1], "x", 1));
      ::pause();
      _exit(0);
    }
    char byte = 0;
    EXPECT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
  }
  ~NamedChild() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  NamedChild(const NamedChild&) = delete;
  NamedChild& operator=(const NamedChild&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = 0;
};

TEST_F(GpuAccessTest, the_mps_server_and_its_own_memory_do_not_count) {
  access_->take_baselines(fake_->inventory);
  const NamedChild server;
  fake_->uses["GPU-a"] = {.processes = {{.pid = server.pid(), .used_mib = 418}}, .used_mib = 418};
  EXPECT_TRUE(probe().empty);
  fake_->uses["GPU-a"].used_mib = 418 + 2048;
  EXPECT_EQ(probe().detail, "2048 MiB above its baseline");
}

class SharedGpuTest : public ::testing::Test {
 protected:
  SharedGpuTest() {
    auto devices = std::make_unique<gpu::FakeDevices>();
    fake_ = devices.get();
    fake_->inventory.gpus.push_back({.uuid = "GPU-a"});
    access_.emplace(std::move(devices), processes_, MpsDirectories{}, proc_.path());
    access_->take_baselines(fake_->inventory);
  }
  // A process of this machine, in such a cgroup.
  void process(int64_t pid, const std::string& cgroup) {
    const std::filesystem::path directory = proc_.path() / std::to_string(pid);
    std::filesystem::create_directories(directory);
    std::ofstream(directory / "cgroup") << "0::" << cgroup << "\n";
  }
  core::GpuUse probe_beside(std::vector<std::string> sharers) {
    const auto result = access_->probe({.uuid = "GPU-a", .sharers = std::move(sharers)});
    EXPECT_TRUE(result.has_value());
    return std::get<core::GpuUse>(*result);
  }

  testing::TemporaryDirectory proc_;
  gpu::FakeDevices* fake_ = nullptr;  // Owned by access_.
  testing::FakeProcesses processes_;
  std::optional<GpuAccess> access_;
};

TEST_F(SharedGpuTest, a_share_is_proven_by_the_processes_of_the_others) {
  process(11, "/docker/c1");
  process(12, "/system.slice/docker-c2.scope/init");
  fake_->uses["GPU-a"] = {
      .processes = {{.pid = 11, .used_mib = 3000}, {.pid = 12, .used_mib = 500}}, .used_mib = 3520};
  EXPECT_TRUE(probe_beside({"c1", "c2"}).empty);
  // One of them is not of a task that is known.
  EXPECT_EQ(probe_beside({"c1"}).detail, "1 process (pid 12), 520 MiB above its baseline");
  EXPECT_FALSE(probe_beside({}).empty);
}

TEST_F(SharedGpuTest, memory_that_belongs_to_nobody_any_more_is_not_given_back) {
  process(11, "/docker/c1");
  fake_->uses["GPU-a"] = {.processes = {{.pid = 11, .used_mib = 3000}}, .used_mib = 7000};
  EXPECT_EQ(probe_beside({"c1"}).detail, "4000 MiB above its baseline");
}

TEST_F(SharedGpuTest, where_the_driver_does_not_tell_what_a_process_has_nothing_is_proven) {
  process(11, "/docker/c1");
  fake_->uses["GPU-a"] = {.processes = {{.pid = 11, .used_mib = 0}}, .used_mib = 3000};
  EXPECT_EQ(probe_beside({"c1"}).detail, "3000 MiB above its baseline");
}

TEST_F(SharedGpuTest, a_process_that_is_gone_is_of_no_container) {
  EXPECT_FALSE(is_in_container(13, std::vector<std::string>{"c1"}, proc_.path()));
  process(13, "/docker/c1");
  EXPECT_TRUE(is_in_container(13, std::vector<std::string>{"c0", "c1"}, proc_.path()));
  EXPECT_FALSE(is_in_container(13, std::vector<std::string>{""}, proc_.path()));
}

TEST(with_gpus, the_setup_wins_over_what_the_container_says) {
  const json::Value body =
      json::parse(
          R"({"Image":"i","Env":["A=1","NVIDIA_VISIBLE_DEVICES=all","NVIDIA_VISIBLE_DEVICES",
                      "NVIDIA_VISIBLE_DEVICES_X=2"],"HostConfig":{"Binds":["/a:/b"],"Memory":5}})")
          .value();
  const json::Value merged = with_gpus(body, {.runtime = "nvidia",
                                              .env = {{"NVIDIA_VISIBLE_DEVICES", "GPU-a"}},
                                              .devices = {{"/dev/null", "/dev/nvidia0"}},
                                              .binds = {{"/smi", "/usr/bin/nvidia-smi"}}});
  EXPECT_EQ(json::print(merged["Env"]),
            R"(["A=1","NVIDIA_VISIBLE_DEVICES_X=2","NVIDIA_VISIBLE_DEVICES=GPU-a"])");
  EXPECT_EQ(json::print(merged["HostConfig"]),
            R"({"Binds":["/a:/b","/smi:/usr/bin/nvidia-smi:ro"],"Memory":5,"Runtime":"nvidia",)"
            R"("Devices":[{"PathOnHost":"/dev/null","PathInContainer":"/dev/nvidia0",)"
            R"("CgroupPermissions":"rwm"}]})");
}

}  // namespace
}  // namespace agent
