#include "gpu/nvml/nvml_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "gpu/nvml/fake_sysfs.h"
#include "gpu/nvml/nvml_devices.h"

namespace gpu {
namespace {

using ::testing::HasSubstr;

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
};

TEST(load_nvml, says_that_there_is_no_driver_and_what_to_install) {
  auto library = load_nvml("libnvidia-ml-of-no-machine.so.1");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, "GpuDriverException");
  EXPECT_THAT(library.error().message, HasSubstr("No NVIDIA driver"));
  EXPECT_THAT(library.error().message, HasSubstr("libnvidia-ml-of-no-machine.so.1"));
  EXPECT_THAT(library.error().message, HasSubstr("Install the NVIDIA driver"));
}

TEST(load_nvml, names_the_functions_that_a_foreign_library_lacks) {
  auto library = load_nvml("libc.so.6");
  ASSERT_FALSE(library);
  EXPECT_THAT(library.error().message, HasSubstr("lacks nvmlInit_v2"));
  EXPECT_THAT(library.error().message, HasSubstr("nvmlDeviceGetComputeRunningProcesses"));
}

TEST(load_nvml, loads_what_a_library_has_and_leaves_the_rest_empty) {
  auto library = load_nvml(BERTH_FAKE_NVML);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_NE(library->call.link_state, nullptr);
  EXPECT_EQ(library->call.memory_v2, nullptr);
  EXPECT_EQ(library->call.event_wait, nullptr);
  EXPECT_FALSE(library->call.processes_are_v1);
  EXPECT_EQ(library->call.init(), NvmlReturn::Success);
  EXPECT_EQ(library->call.shutdown(), NvmlReturn::Success);
}

std::unique_ptr<Devices> devices_of_fake_library(const FakeSysfs& sysfs) {
  return nvml_devices([] { return load_nvml(BERTH_FAKE_NVML); },
                      {.sysfs = sysfs.root().string(), .procfs = sysfs.root().string()});
}

TEST(devices_of_a_loaded_library, are_discovered_and_read) {
  FakeSysfs sysfs;
  Environment gpus("BERTH_FAKE_NVML_GPUS", "4");
  auto devices = devices_of_fake_library(sysfs);
  auto inventory = devices->discover();
  ASSERT_TRUE(inventory) << inventory.error().message;
  ASSERT_EQ(inventory->gpus.size(), 4U);
  EXPECT_EQ(inventory->cuda_version, "12.8");
  EXPECT_EQ(inventory->gpus[2].pci_bus_id, "00000000:42:00.0");
  ASSERT_EQ(inventory->gpus[0].nvlinks.size(), 1U);
  EXPECT_EQ(inventory->gpus[0].nvlinks[0].peer, inventory->gpus[1].uuid);
  EXPECT_EQ(inventory->gpus[0].nvlinks[0].lanes, 2U);
  auto idle = devices->use(inventory->gpus[3].uuid);
  ASSERT_TRUE(idle) << idle.error().message;
  EXPECT_EQ(idle->used_mib, 0);
  EXPECT_EQ(idle->total_mib, 16384);
  EXPECT_TRUE(idle->processes.empty());

  Environment busy("BERTH_FAKE_NVML_BUSY_FILE", "/proc/self/exe");
  auto use = devices->use(inventory->gpus[3].uuid);
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_EQ(use->used_mib, 1024);
  EXPECT_EQ(use->processes, (std::vector<GpuProcess>{{.pid = 4242, .used_mib = 1024}}));
}

TEST(devices_of_a_loaded_library, are_tried_anew_by_each_discovery) {
  FakeSysfs sysfs;
  sysfs.add_gpu("pci0000:17", "0000:40:00.0", "");
  auto devices = devices_of_fake_library(sysfs);
  {
    Environment init("BERTH_FAKE_NVML_INIT", "9");
    auto inventory = devices->discover();
    ASSERT_FALSE(inventory);
    EXPECT_THAT(inventory.error().message, HasSubstr("modprobe nvidia"));
  }
  EXPECT_TRUE(devices->discover());
}

}  // namespace
}  // namespace gpu
