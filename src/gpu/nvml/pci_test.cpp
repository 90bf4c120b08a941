#include "gpu/nvml/pci.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gpu/nvml/fake_sysfs.h"

namespace gpu {
namespace {

TEST(pci_place, is_read_from_sysfs) {
  FakeSysfs sysfs;
  auto device = sysfs.add("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:08.0", "0000:3b:00.0");
  FakeSysfs::write(device / "numa_node", "1");
  FakeSysfs::write(device / "local_cpulist", "16-31,48-63");
  PciPlace place = read_pci_place(sysfs.root(), "0000:3b:00.0");
  EXPECT_EQ(place.numa_node, 1);
  EXPECT_EQ(place.cpu_list, "16-31,48-63");
  EXPECT_EQ(place.pcie_switch, "0000:18:00.0");
}

TEST(pci_place, is_the_same_switch_for_gpus_below_one_upstream_port_only) {
  FakeSysfs sysfs;
  sysfs.add("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:08.0", "0000:3b:00.0");
  sysfs.add("pci0000:17/0000:17:00.0/0000:18:00.0/0000:19:10.0", "0000:3c:00.0");
  sysfs.add("pci0000:17/0000:17:02.0", "0000:3d:00.0");
  sysfs.add("pci0000:17/0000:17:03.0", "0000:3e:00.0");
  sysfs.add("pci0000:00", "0000:00:1e.0");
  auto switch_of = [&](const char* gpu) { return read_pci_place(sysfs.root(), gpu).pcie_switch; };
  EXPECT_EQ(switch_of("0000:3b:00.0"), switch_of("0000:3c:00.0"));
  EXPECT_EQ(switch_of("0000:3d:00.0"), "pci0000:17");
  EXPECT_EQ(switch_of("0000:3e:00.0"), "pci0000:17");
  EXPECT_EQ(switch_of("0000:00:1e.0"), "pci0000:00");
}

TEST(pci_place, stays_unknown_where_sysfs_says_nothing) {
  FakeSysfs sysfs;
  PciPlace place = read_pci_place(sysfs.root(), "0000:3b:00.0");
  EXPECT_EQ(place.numa_node, -1);
  EXPECT_EQ(place.cpu_list, "");
  EXPECT_EQ(place.pcie_switch, "");
  EXPECT_TRUE(nvidia_pci_gpus(sysfs.root() / "absent").empty());
}

TEST(nearest_nics, are_those_behind_the_same_switch_by_their_rdma_names) {
  FakeSysfs sysfs;
  const std::string under = "pci0000:17/0000:17:00.0/0000:18:00.0";
  sysfs.add(under + "/0000:19:08.0", "0000:3b:00.0");
  sysfs.add_nic(under + "/0000:19:10.0", "0000:3c:00.1", "mlx5_1", "ens1f1");
  sysfs.add_nic(under + "/0000:19:11.0", "0000:3d:00.0", "mlx5_0", "ens1f0");
  sysfs.add_nic("pci0000:17/0000:17:02.0", "0000:3e:00.0", "", "eth0");
  std::filesystem::create_directories(sysfs.root() / "class/net/lo");
  EXPECT_THAT(nearest_nics(sysfs.root(), "0000:3b:00.0"),
              ::testing::ElementsAre("mlx5_0", "mlx5_1"));
}

TEST(nearest_nics, are_looked_for_under_the_same_root_and_then_on_the_same_numa_node) {
  FakeSysfs sysfs;
  sysfs.add("pci0000:17/0000:17:01.0", "0000:3b:00.0");
  FakeSysfs::write(sysfs.add("pci0000:5d/0000:5d:01.0", "0000:5e:00.0") / "numa_node", "1");
  sysfs.add_nic("pci0000:17/0000:17:02.0", "0000:3e:00.0", "", "eth0");
  sysfs.add_nic("pci0000:80/0000:80:02.0", "0000:81:00.0", "", "eth1");
  FakeSysfs::write(sysfs.root() / "bus/pci/devices/0000:81:00.0/numa_node", "1");
  EXPECT_THAT(nearest_nics(sysfs.root(), "0000:3b:00.0"), ::testing::ElementsAre("eth0"));
  EXPECT_THAT(nearest_nics(sysfs.root(), "0000:5e:00.0"), ::testing::ElementsAre("eth1"));
}

TEST(nearest_nics, are_none_where_nothing_is_near_or_known) {
  FakeSysfs sysfs;
  sysfs.add("pci0000:17/0000:17:01.0", "0000:3b:00.0");
  sysfs.add_nic("pci0000:80/0000:80:02.0", "0000:81:00.0", "", "eth1");
  EXPECT_TRUE(nearest_nics(sysfs.root(), "0000:3b:00.0").empty());
  EXPECT_TRUE(nearest_nics(sysfs.root(), "0000:99:00.0").empty());
}

TEST(pci_gpus, are_nvidias_physical_gpus_with_the_driver_that_runs_them) {
  FakeSysfs sysfs;
  sysfs.add_gpu("pci0000:17", "0000:3c:00.0", "vfio-pci");
  sysfs.add_gpu("pci0000:17", "0000:3b:00.0", "nvidia");
  sysfs.add_gpu("pci0000:17", "0000:3d:00.0", "");
  auto virtual_function = sysfs.add_gpu("pci0000:17", "0000:3b:00.4", "nvidia");
  FakeSysfs::write(virtual_function / "physfn/vendor", "0x10de");
  auto audio = sysfs.add_gpu("pci0000:17", "0000:3b:00.1", "");
  FakeSysfs::write(audio / "class", "0x040300");
  auto other = sysfs.add_gpu("pci0000:17", "0000:02:00.0", "ast");
  FakeSysfs::write(other / "vendor", "0x1a03");

  std::vector<PciGpu> gpus = nvidia_pci_gpus(sysfs.root());
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].address, "0000:3b:00.0");
  EXPECT_EQ(gpus[0].driver, "nvidia");
  EXPECT_EQ(gpus[1].driver, "vfio-pci");
  EXPECT_EQ(gpus[2].driver, "");
}

TEST(pci_addresses, are_written_as_sysfs_and_as_nvidia_smi_do) {
  EXPECT_EQ(sysfs_address(0, 0x3b, 0), "0000:3b:00.0");
  EXPECT_EQ(nvidia_smi_address(0, 0x3b, 0x1e), "00000000:3B:1E.0");
  EXPECT_EQ(sysfs_address(0x12345, 1, 0), "12345:01:00.0");
}

}  // namespace
}  // namespace gpu
