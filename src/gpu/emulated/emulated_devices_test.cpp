#include "gpu/emulated/emulated_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gpu/embedded.h"

namespace gpu {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

class emulated_devices_test : public ::testing::Test {
 protected:
  emulated_devices_test() {
    std::string name = (fs::temp_directory_path() / "berth-emulated-XXXXXX").string();
    data_dir_ = mkdtemp(name.data());
  }
  ~emulated_devices_test() override { fs::remove_all(data_dir_); }

  std::unique_ptr<Devices> create(const std::string& type) {
    auto devices =
        emulated_devices({.instance_type = type, .seed_name = "i-1", .data_dir = data_dir_});
    EXPECT_TRUE(devices) << devices.error().message;
    return std::move(*devices);
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  fs::path data_dir_;
};

TEST_F(emulated_devices_test, are_those_of_the_catalogue_and_stay_the_same_after_a_restart) {
  auto devices = create("p3.8xlarge");
  EXPECT_TRUE(devices->emulated());
  auto inventory = devices->discover();
  ASSERT_TRUE(inventory);
  ASSERT_EQ(inventory->gpus.size(), 4U);
  EXPECT_EQ(inventory->gpus[0].model, "Tesla V100-SXM2-16GB");
  EXPECT_TRUE(inventory->gpus[0].emulated);
  EXPECT_FALSE(inventory->driver_version.empty());
  EXPECT_EQ(create("p3.8xlarge")->discover()->gpus, inventory->gpus);
}

TEST_F(emulated_devices_test, a_container_gets_the_nodes_of_its_gpus_and_an_nvidia_smi) {
  auto devices = create("p3.8xlarge");
  auto gpus = devices->discover()->gpus;
  std::vector<std::string> uuids = {gpus[3].uuid, gpus[1].uuid};
  auto setup = devices->container_setup(uuids);
  ASSERT_TRUE(setup) << setup.error().message;
  EXPECT_EQ(setup->runtime, "");
  ASSERT_EQ(setup->devices.size(), 2U);
  EXPECT_EQ(setup->devices[0].container_path, "/dev/nvidia1");
  EXPECT_EQ(setup->devices[1].container_path, "/dev/nvidia3");
  for (const DeviceNode& node : setup->devices) {
    struct stat status = {};
    ASSERT_EQ(stat(node.host_path.c_str(), &status), 0) << node.host_path;
    EXPECT_TRUE(S_ISCHR(status.st_mode));
  }
  ASSERT_EQ(setup->binds.size(), 2U);
  EXPECT_EQ(setup->binds[0].container_path, "/run/berth/gpus");
  std::string info = read(setup->binds[0].host_path);
  EXPECT_THAT(info, AllOf(HasSubstr(gpus[1].uuid), HasSubstr(gpus[3].uuid)));
  EXPECT_THAT(info, Not(HasSubstr(gpus[0].uuid)));
  EXPECT_EQ(setup->binds[1].container_path, "/usr/bin/nvidia-smi");
  EXPECT_EQ(read(setup->binds[1].host_path), embedded_nvidia_smi());
  struct stat smi = {};
  ASSERT_EQ(stat(setup->binds[1].host_path.c_str(), &smi), 0);
  EXPECT_EQ(smi.st_mode & 0777U, 0755U);
}

TEST_F(emulated_devices_test, a_container_without_gpus_gets_none_of_it) {
  auto devices = create("g4dn.xlarge");
  auto setup = devices->container_setup({});
  ASSERT_TRUE(setup);
  EXPECT_THAT(setup->devices, IsEmpty());
  EXPECT_THAT(setup->binds, IsEmpty());
  EXPECT_THAT(setup->env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "void")));
}

TEST_F(emulated_devices_test, a_cpu_type_has_no_gpus_and_writes_nothing) {
  auto devices = create("c5.2xlarge");
  EXPECT_THAT(devices->discover()->gpus, IsEmpty());
  EXPECT_EQ(devices->discover()->driver_version, "");
  EXPECT_TRUE(fs::is_empty(data_dir_));
}

TEST_F(emulated_devices_test, are_empty_and_unknown_uuids_are_refused) {
  auto devices = create("p3.2xlarge");
  std::string uuid = devices->discover()->gpus[0].uuid;
  auto use = devices->use(uuid);
  ASSERT_TRUE(use);
  EXPECT_THAT(use->processes, IsEmpty());
  EXPECT_EQ(use->used_mib, 0);
  EXPECT_EQ(use->total_mib, 16384);
  EXPECT_EQ(use->utilisation_percent, 0);
  EXPECT_FALSE(use->temperature_celsius || use->power_watts);
  EXPECT_FALSE(devices->use("GPU-x"));
  std::vector<std::string> foreign = {uuid, "GPU-x"};
  auto refused = devices->container_setup(foreign);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("GPU-x"));
  EXPECT_THAT(devices->health(), IsEmpty());
}

TEST_F(emulated_devices_test, a_damaged_program_or_node_is_put_right_at_the_next_start) {
  create("p3.2xlarge");
  std::ofstream(data_dir_ / "gpu/nvidia-smi", std::ios::trunc) << "garbage";
  fs::remove(data_dir_ / "gpu/nvidia0");
  std::ofstream(data_dir_ / "gpu/nvidia0") << "no device";
  auto devices = create("p3.2xlarge");
  EXPECT_EQ(read(data_dir_ / "gpu/nvidia-smi"), embedded_nvidia_smi());
  std::vector<std::string> uuids = {devices->discover()->gpus[0].uuid};
  struct stat status = {};
  ASSERT_EQ(stat(devices->container_setup(uuids)->devices[0].host_path.c_str(), &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(emulated_devices_test, a_process_that_stays_and_a_failure_can_be_made_up) {
  auto devices = create("p3.8xlarge");
  const std::string uuid = devices->discover()->gpus[2].uuid;
  EXPECT_TRUE(devices->use(uuid)->processes.empty());
  EXPECT_TRUE(devices->health().empty());
  std::ofstream(data_dir_ / "gpu/state" / uuid)
      << "process 4711 1024\nused 500\nutilization 87\ntemperature 61.5\npower 240\nunhealthy Xid "
         "79: it has fallen off the bus\n";
  const auto use = devices->use(uuid);
  EXPECT_THAT(use->processes, ElementsAre(GpuProcess{4711, 1024}));
  EXPECT_EQ(use->used_mib, 1524);
  EXPECT_EQ(use->utilisation_percent, 87);
  EXPECT_EQ(use->temperature_celsius, 61.5);
  EXPECT_EQ(use->power_watts, 240.0);
  const std::vector<HealthEvent> failed = devices->health();
  ASSERT_EQ(failed.size(), 1U);
  EXPECT_EQ(failed[0].uuid, uuid);
  EXPECT_FALSE(failed[0].usable);
  EXPECT_EQ(failed[0].reason, "Xid 79: it has fallen off the bus");
  EXPECT_TRUE(devices->health().empty());
  EXPECT_FALSE(create("p3.8xlarge")->discover()->gpus[2].healthy);
  fs::remove(data_dir_ / "gpu/state" / uuid);
  ASSERT_EQ(devices->health().size(), 1U);
  EXPECT_TRUE(devices->discover()->gpus[2].healthy);
}

TEST_F(emulated_devices_test, gpus_come_with_a_control_program_for_mps) {
  EXPECT_EQ(create("p3.2xlarge")->discover()->mps.control_program,
            (data_dir_ / "gpu/bin/nvidia-cuda-mps-control").string());
  EXPECT_EQ(create("c5.2xlarge")->discover()->mps.control_program, "");
}

TEST_F(emulated_devices_test, bad_options_are_errors_that_name_the_fix) {
  auto unknown =
      emulated_devices({.instance_type = "p3.3xlarge", .seed_name = "i-1", .data_dir = data_dir_});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("p3.2xlarge"));
  EXPECT_FALSE(
      emulated_devices({.instance_type = "p3.2xlarge", .seed_name = "", .data_dir = data_dir_}));
  std::ofstream(data_dir_ / "file") << "x";
  auto not_writable = emulated_devices(
      {.instance_type = "p3.2xlarge", .seed_name = "i-1", .data_dir = data_dir_ / "file"});
  ASSERT_FALSE(not_writable);
  EXPECT_EQ(not_writable.error().code, "ServerException");
  EXPECT_THAT(not_writable.error().message, HasSubstr("file/gpu"));
}

}  // namespace
}  // namespace gpu
