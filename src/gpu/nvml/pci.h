// Where a GPU sits in the machine, from Linux's sysfs (Documentation/ABI/testing/sysfs-bus-pci).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace gpu {

struct PciPlace {
  int32_t numa_node = -1;        // -1: the machine has one node, or does not tell.
  std::string cpu_list = {};     // "0-15,32-47"; empty: unknown.
  std::string pcie_switch = {};  // "0000:17:00.0", the switch's upstream port; without a switch the
                                 // root complex, "pci0000:17"; empty: unknown.
};

// `address` as sysfs writes it: "0000:3b:00.0". What cannot be read stays unknown.
PciPlace read_pci_place(const std::filesystem::path& sysfs, const std::string& address);

// The network interfaces closest to a device: those behind the same PCIe switch; without any, those
// under the same root complex; without any, those of the same NUMA node. An RDMA device goes by its
// own name, "mlx5_0", and its interface is left out then; any other by its interface's, "eth0".
// Sorted; virtual interfaces have no place and are not listed.
std::vector<std::string> nearest_nics(const std::filesystem::path& sysfs,
                                      const std::string& address);

struct PciGpu {
  std::string address = {};  // "0000:3b:00.0".
  std::string driver = {};   // "nvidia", "vfio-pci", "nouveau"; empty: no driver has taken it.
};

// NVIDIA's GPUs on the PCI bus, by address, whether or not a driver runs them; virtual functions of
// a GPU are left out.
std::vector<PciGpu> nvidia_pci_gpus(const std::filesystem::path& sysfs);

// "0000:3b:00.0" and "00000000:3B:00.0" of the same place.
std::string sysfs_address(uint32_t domain, uint32_t bus, uint32_t device);
std::string nvidia_smi_address(uint32_t domain, uint32_t bus, uint32_t device);

}  // namespace gpu
