#include "gpu/nvml/nvml_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/nvml/fake_sysfs.h"
#include "gpu/nvml/nvml_fake_machine.h"
#include "gpu/nvml/nvml_messages.h"

namespace gpu {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class nvml_devices_test : public ::testing::Test {
 protected:
  void SetUp() override { fake_machine = {}; }
  void TearDown() override {
    devices_.reset();
    EXPECT_EQ(fake_machine.open_sessions, 0);
  }

  Devices& devices() {
    if (devices_ == nullptr) {
      devices_ = nvml_devices([this] { return open(); },
                              {.sysfs = sysfs_.root().string(), .procfs = sysfs_.root().string()});
    }
    return *devices_;
  }
  Inventory discover() {
    auto inventory = devices().discover();
    EXPECT_TRUE(inventory) << inventory.error().message;
    return inventory ? *inventory : Inventory{};
  }
  std::string discovery_error() {
    auto inventory = devices().discover();
    EXPECT_FALSE(inventory);
    if (inventory) return {};
    EXPECT_EQ(inventory.error().code, "GpuDriverException");
    return inventory.error().message;
  }
  base::Result<NvmlLibrary> open() const {
    if (!library_missing_) return NvmlLibrary{.call = functions_};
    return base::fail("GpuDriverException", "No NVIDIA driver.");
  }

  FakeSysfs sysfs_;
  NvmlFunctions functions_ = fake_functions();
  bool library_missing_ = false;
  std::unique_ptr<Devices> devices_;
};

TEST_F(nvml_devices_test, a_gpu_is_read_with_everything_that_is_known_of_it) {
  auto device = sysfs_.add_gpu("pci0000:17/0000:17:00.0", "0000:3b:00.0", "nvidia");
  FakeSysfs::write(device / "numa_node", "1");
  FakeSysfs::write(device / "local_cpulist", "16-31");
  fake_machine.gpus = {{.uuid = "GPU-a"}};
  Inventory inventory = discover();
  EXPECT_EQ(inventory.driver_version, "550.54.15");
  EXPECT_EQ(inventory.cuda_version, "12.4");
  EXPECT_THAT(inventory.problems, IsEmpty());
  ASSERT_EQ(inventory.gpus.size(), 1U);
  EXPECT_EQ(inventory.gpus[0], (model::GpuDevice{.uuid = "GPU-a",
                                                 .model = "NVIDIA H200",
                                                 .architecture = "Hopper",
                                                 .memory_mib = 143171,
                                                 .pci_bus_id = "00000000:3B:00.0",
                                                 .pcie_switch = "pci0000:17",
                                                 .numa_node = 1,
                                                 .cpu_list = "16-31",
                                                 .mps_capable = true}));
  EXPECT_FALSE(devices().emulated());
}

TEST_F(nvml_devices_test, an_old_driver_without_the_newer_functions_is_good_enough) {
  functions_.memory_v2 = nullptr;
  functions_.cuda_version = nullptr;
  functions_.compute_capability = nullptr;
  functions_.remapped_rows = nullptr;
  functions_.link_state = nullptr;
  functions_.mig_mode = nullptr;
  functions_.graphics_processes = nullptr;
  functions_.mps_processes = nullptr;
  functions_.utilization = nullptr;
  functions_.event_wait = nullptr;
  fake_machine.gpus = {{.uuid = "GPU-a", .used_mib = 5}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 1U);
  EXPECT_EQ(inventory.gpus[0].memory_mib, 143771);
  EXPECT_EQ(inventory.gpus[0].architecture, "");
  EXPECT_EQ(inventory.cuda_version, "");
  EXPECT_EQ(devices().use("GPU-a")->used_mib, 605);
  EXPECT_THAT(devices().health(), IsEmpty());
}

TEST_F(nvml_devices_test, the_processes_of_an_old_driver_are_read_in_their_old_layout) {
  functions_.processes_are_v1 = true;
  functions_.compute_processes = [](NvmlDevice, uint32_t* count, void* to) {
    if (std::exchange(*count, 2) < 2) return NvmlReturn::InsufficientSize;
    auto* list = static_cast<NvmlProcessV1*>(to);
    list[0] = {.pid = 7, .used_bytes = 3ULL << 20};
    list[1] = {.pid = 9, .used_bytes = 4ULL << 20};
    return NvmlReturn::Success;
  };
  functions_.graphics_processes = nullptr;
  fake_machine.gpus = {{.uuid = "GPU-a"}};
  discover();
  auto use = devices().use("GPU-a");
  ASSERT_TRUE(use);
  EXPECT_EQ(use->processes, (std::vector<GpuProcess>{{7, 3}, {9, 4}}));
}

TEST_F(nvml_devices_test, a_machine_without_cards_and_driver_is_a_cpu_machine) {
  library_missing_ = true;
  Inventory inventory = discover();
  EXPECT_THAT(inventory.gpus, IsEmpty());
  EXPECT_THAT(inventory.problems, IsEmpty());
  EXPECT_THAT(devices().container_setup({})->env, IsEmpty());
  EXPECT_FALSE(devices().use("GPU-a"));
  EXPECT_THAT(devices().health(), IsEmpty());
}

TEST_F(nvml_devices_test, cards_without_a_driver_are_an_error_that_names_them) {
  library_missing_ = true;
  sysfs_.add_gpu("pci0000:17", "0000:3b:00.0", "nouveau");
  sysfs_.add_gpu("pci0000:17", "0000:3c:00.0", "");
  EXPECT_THAT(discovery_error(), AllOf(HasSubstr("No NVIDIA driver"), HasSubstr("2 NVIDIA GPUs"),
                                       HasSubstr("0000:3b:00.0, 0000:3c:00.0")));
  EXPECT_THAT(devices().container_setup({})->env,
              ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "void")));
}

TEST_F(nvml_devices_test, each_failure_to_start_names_its_cause_and_fix) {
  sysfs_.add_gpu("pci0000:17", "0000:3b:00.0", "");
  FakeSysfs::write(
      sysfs_.root() / "driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023");
  fake_machine.init = NvmlReturn::DriverNotLoaded;
  EXPECT_THAT(discovery_error(), AllOf(HasSubstr("not loaded"), HasSubstr("modprobe nvidia")));
  fake_machine.init = NvmlReturn::LibraryDriverMismatch;
  EXPECT_THAT(discovery_error(), AllOf(HasSubstr("535.54.03"), HasSubstr("Reboot")));
  fake_machine.init = NvmlReturn::NoPermission;
  EXPECT_THAT(discovery_error(), AllOf(HasSubstr("root"), HasSubstr("/dev/nvidiactl")));
  fake_machine.init = NvmlReturn::Unknown;
  EXPECT_THAT(discovery_error(), AllOf(HasSubstr("code 999"), HasSubstr("dmesg")));
  fake_machine.init = NvmlReturn::Success;
  fake_machine.count = NvmlReturn::Unknown;
  EXPECT_THAT(discovery_error(), HasSubstr("number of its GPUs"));
}

TEST_F(nvml_devices_test, a_gpu_that_cannot_be_read_is_named_and_the_others_are_listed) {
  for (const char* address : {"0000:3a:00.0", "0000:3b:00.0", "0000:3c:00.0", "0000:3d:00.0"}) {
    sysfs_.add_gpu("pci0000:17", address, "nvidia");
  }
  fake_machine.gpus = {{.uuid = "GPU-a", .bus = 0x3a, .open = NvmlReturn::GpuIsLost},
                       {.uuid = "GPU-b", .bus = 0x3b},
                       {.uuid = "GPU-c", .bus = 0x3c, .memory_code = NvmlReturn::ResetRequired},
                       {.uuid = "GPU-d", .bus = 0x3d, .uuid_code = NvmlReturn::Unknown}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 1U);
  EXPECT_EQ(inventory.gpus[0].uuid, "GPU-b");
  EXPECT_THAT(
      inventory.problems,
      ElementsAre(AllOf(HasSubstr("open GPU 0"), HasSubstr("GPU is lost"), HasSubstr("dmesg")),
                  AllOf(HasSubstr("memory of GPU 2 (NVIDIA H200, 00000000:3C:00.0)"),
                        HasSubstr("nvidia-smi -r")),
                  HasSubstr("UUID of GPU 3 (NVIDIA H200, 00000000:3D:00.0)")));
  EXPECT_FALSE(devices().use("GPU-c"));
}

TEST_F(nvml_devices_test, a_card_on_the_bus_that_nvml_does_not_list_is_a_problem) {
  sysfs_.add_gpu("pci0000:17", "0000:3b:00.0", "nvidia");
  sysfs_.add_gpu("pci0000:17", "0000:3c:00.0", "vfio-pci");
  sysfs_.add_gpu("pci0000:17", "0000:3d:00.0", "nvidia");
  fake_machine.gpus = {{.uuid = "GPU-a", .bus = 0x3b}};
  EXPECT_THAT(discover().problems,
              ElementsAre(AllOf(HasSubstr("0000:3c:00.0"), HasSubstr("vfio-pci")),
                          AllOf(HasSubstr("0000:3d:00.0"), HasSubstr("NVRM"))));
}

TEST_F(nvml_devices_test, a_gpu_whose_memory_rows_ran_out_is_listed_as_unhealthy) {
  fake_machine.gpus = {{.uuid = "GPU-a", .remap_failed = 1}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 1U);
  EXPECT_FALSE(inventory.gpus[0].healthy);
  EXPECT_THAT(inventory.gpus[0].health_reason, HasSubstr("memory row"));
}

TEST_F(nvml_devices_test, direct_nvlinks_are_added_up_per_peer) {
  FakeLink to_b{.bus = 0x3b}, to_c{.bus = 0x3c}, to_a{.bus = 0x3a}, off{.active = 0, .bus = 0x3c};
  FakeLink to_nowhere{.bus = 0x99};  // Such as the CPU of an IBM machine.
  fake_machine.gpus = {{.uuid = "GPU-a", .bus = 0x3a, .links = {to_b, to_b, to_c, off, to_nowhere}},
                       {.uuid = "GPU-b", .bus = 0x3b, .links = {to_a, to_a}},
                       {.uuid = "GPU-c", .bus = 0x3c, .links = {to_a}}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 3U);
  using model::NvLink;
  EXPECT_THAT(inventory.gpus[0].nvlinks, ElementsAre(NvLink{"GPU-b", 2}, NvLink{"GPU-c", 1}));
  EXPECT_THAT(inventory.gpus[1].nvlinks, ElementsAre(NvLink{"GPU-a", 2}));
  EXPECT_THAT(inventory.gpus[2].nvlinks, ElementsAre(NvLink{"GPU-a", 1}));
}

TEST_F(nvml_devices_test, gpus_behind_one_nvswitch_reach_each_other_with_all_links) {
  FakeLink up{.type = nvml_remote_is_switch, .bus = 0x99};
  fake_machine.gpus = {{.uuid = "GPU-b", .bus = 0x3a, .links = std::vector<FakeLink>(18, up)},
                       {.uuid = "GPU-a", .bus = 0x3b, .links = std::vector<FakeLink>(17, up)},
                       {.uuid = "GPU-c", .bus = 0x3c, .links = {}}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 3U);
  EXPECT_THAT(inventory.gpus[0].nvlinks, ElementsAre(model::NvLink{"GPU-a", 17}));
  EXPECT_THAT(inventory.gpus[1].nvlinks, ElementsAre(model::NvLink{"GPU-b", 17}));
  EXPECT_THAT(inventory.gpus[2].nvlinks, IsEmpty());
}

TEST_F(nvml_devices_test, a_gpu_in_mig_mode_is_listed_as_its_instances) {
  FakeGpu named{.uuid = "MIG-1", .name = "NVIDIA H200 MIG 1g.18gb", .total_mib = 16384};
  FakeGpu plain{.uuid = "MIG-2",
                .name = "NVIDIA H200",
                .total_mib = 71424,
                .attributes = {.gpu_slices = 3, .compute_slices = 1, .memory_mib = 71424}};
  FakeGpu broken{.uuid = "MIG-3", .open = NvmlReturn::Unknown};
  fake_machine.gpus = {
      {.uuid = "GPU-a", .links = {{.bus = 0x3c}}, .mig = {named, plain, broken}, .mig_on = true},
      {.uuid = "GPU-b", .bus = 0x3c, .links = {{.bus = 0x3b}}}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 3U);
  EXPECT_EQ(inventory.gpus[0].uuid, "MIG-1");
  EXPECT_EQ(inventory.gpus[0].mig_profile, "1g.18gb");
  EXPECT_EQ(inventory.gpus[0].mig_parent, "GPU-a");
  EXPECT_EQ(inventory.gpus[0].memory_mib, 16384 - 600);
  EXPECT_EQ(inventory.gpus[1].mig_profile, "1c.3g.70gb");
  EXPECT_EQ(inventory.gpus[2].uuid, "GPU-b");
  EXPECT_THAT(inventory.gpus[2].nvlinks, IsEmpty());
  EXPECT_THAT(inventory.problems, ElementsAre(HasSubstr("MIG instance 2 of GPU 0")));
  EXPECT_TRUE(devices().use("MIG-2"));
  EXPECT_FALSE(devices().use("GPU-a"));
}

TEST_F(nvml_devices_test, mig_mode_without_instances_is_a_problem_with_the_commands_to_solve_it) {
  fake_machine.gpus = {{.uuid = "GPU-a", .mig_on = true}};
  Inventory inventory = discover();
  EXPECT_THAT(inventory.gpus, IsEmpty());
  EXPECT_THAT(inventory.problems, ElementsAre(HasSubstr("nvidia-smi -i 0 -mig 0")));
}

TEST_F(nvml_devices_test, use_shows_all_processes_by_pid_and_the_memory_without_the_reserve) {
  std::vector<NvmlProcess> many;
  for (uint32_t pid = 60; pid > 0; --pid) many.push_back({.pid = pid, .used_bytes = 1ULL << 20});
  many.push_back({.pid = 70, .used_bytes = ~uint64_t{0}});
  fake_machine.gpus = {{.uuid = "GPU-a",
                        .used_mib = 512,
                        .utilization = 33,
                        .celsius = 71,
                        .milliwatts = 512'500,
                        .compute = many,
                        .graphics = {{.pid = 1, .used_bytes = 9ULL << 20}, {.pid = 99}}}};
  discover();
  auto use = devices().use("GPU-a");
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_EQ(use->used_mib, 512);
  EXPECT_EQ(use->total_mib, 143171);
  EXPECT_EQ(use->utilisation_percent, 33);
  EXPECT_EQ(use->temperature_celsius, 71.0);
  EXPECT_EQ(use->power_watts, 512.5);
  ASSERT_EQ(use->processes.size(), 62U);
  EXPECT_EQ(use->processes[0], (GpuProcess{1, 9}));
  EXPECT_EQ(use->processes[60], (GpuProcess{70, 0}));
  EXPECT_EQ(use->processes[61], (GpuProcess{99, 0}));
}

TEST_F(nvml_devices_test, use_is_an_error_when_the_gpu_cannot_be_read_never_an_empty_gpu) {
  fake_machine.gpus = {{.uuid = "GPU-a"}};
  discover();
  fake_machine.gpus[0].memory_code = NvmlReturn::GpuIsLost;
  auto use = devices().use("GPU-a");
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, "GpuDriverException");
  EXPECT_THAT(use.error().message, AllOf(HasSubstr("GPU-a"), HasSubstr("GPU is lost")));
  fake_machine.gpus[0].memory_code = NvmlReturn::Success;
  fake_machine.gpus[0].process_code = NvmlReturn::NoPermission;
  ASSERT_FALSE(devices().use("GPU-a"));
}

TEST_F(nvml_devices_test, a_gpu_that_shares_the_machines_memory_has_none_of_its_own) {
  fake_machine.gpus = {{.uuid = "GPU-a", .memory_code = NvmlReturn::NotSupported}};
  Inventory inventory = discover();
  ASSERT_EQ(inventory.gpus.size(), 1U);
  EXPECT_EQ(inventory.gpus[0].memory_mib, 0);
}

TEST_F(nvml_devices_test, a_container_gets_the_nvidia_runtime_with_its_gpus_only) {
  fake_machine.gpus = {{.uuid = "GPU-a"}, {.uuid = "GPU-b", .bus = 0x3c}};
  discover();
  std::vector<std::string> both = {"GPU-b", "GPU-a"};
  auto setup = devices().container_setup(both);
  ASSERT_TRUE(setup);
  EXPECT_EQ(setup->runtime, "nvidia");
  EXPECT_THAT(setup->env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "GPU-b,GPU-a")));
  auto none = devices().container_setup({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->runtime, "");
  EXPECT_THAT(none->env, ElementsAre(Pair("NVIDIA_VISIBLE_DEVICES", "void")));
  std::vector<std::string> foreign = {"GPU-a", "all"};
  auto refused = devices().container_setup(foreign);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "InvalidParameterException");
}

TEST_F(nvml_devices_test, xid_events_say_which_gpu_and_whether_it_can_still_be_used) {
  fake_machine.gpus = {{.uuid = "GPU-a"}, {.uuid = "GPU-b", .bus = 0x3c}};
  discover();
  NvmlDevice b = fake::handle(fake_machine.gpus[1]);
  fake_machine.events = {{.device = b, .type = nvml_event_xid, .data = 79},
                         {.device = b, .type = nvml_event_xid, .data = 31},
                         {.device = b, .type = nvml_event_xid, .data = 9999},
                         {.device = b, .type = nvml_event_double_bit_ecc}};
  std::vector<HealthEvent> events = devices().health();
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].uuid, "GPU-b");
  EXPECT_EQ(events[0].xid, 79);
  EXPECT_FALSE(events[0].usable);
  EXPECT_THAT(events[0].reason, HasSubstr("fallen off the PCIe bus"));
  EXPECT_TRUE(events[1].usable);
  EXPECT_FALSE(events[2].usable);
  EXPECT_FALSE(events[3].usable);
  EXPECT_EQ(events[3].xid, 0);
  EXPECT_THAT(devices().health(), IsEmpty());
}

TEST_F(nvml_devices_test, a_lost_gpu_is_reported_once_until_the_next_discovery) {
  fake_machine.gpus = {{.uuid = "GPU-a"}};
  discover();
  fake_machine.gpus[0].memory_code = NvmlReturn::GpuIsLost;
  std::vector<HealthEvent> events = devices().health();
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].uuid, "GPU-a");
  EXPECT_FALSE(events[0].usable);
  EXPECT_THAT(events[0].reason, HasSubstr("GPU is lost"));
  EXPECT_THAT(devices().health(), IsEmpty());
}

}  // namespace
}  // namespace gpu
