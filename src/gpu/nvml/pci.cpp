#include "gpu/nvml/pci.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <system_error>

#include "base/format.h"

namespace gpu {
namespace {

namespace fs = std::filesystem;

// First line of a small text file; empty when it cannot be read.
std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

bool is_pci_address(const std::string& name) {
  return name.find(':') != std::string::npos && name.find('.') != std::string::npos;
}

// The device tree is the path itself: .../pci0000:17/<root port>/<upstream>/<downstream>/<gpu>.
std::string switch_above(const fs::path& device) {
  std::error_code error;
  fs::path real = fs::canonical(device, error);
  if (error) return {};
  fs::path port = real.parent_path();  // Every GPU has a port of its own.
  if (!is_pci_address(port.filename())) return port.filename();
  return port.parent_path().filename();
}

}  // namespace

PciPlace read_pci_place(const fs::path& sysfs, const std::string& address) {
  fs::path device = sysfs / "bus/pci/devices" / address;
  PciPlace place;
  std::string node = first_line(device / "numa_node");
  std::from_chars(node.data(), node.data() + node.size(), place.numa_node);
  place.cpu_list = first_line(device / "local_cpulist");
  place.pcie_switch = switch_above(device);
  return place;
}

std::vector<PciGpu> nvidia_pci_gpus(const fs::path& sysfs) {
  std::vector<PciGpu> gpus;
  std::error_code error;
  for (fs::directory_iterator entry(sysfs / "bus/pci/devices", error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& device = entry->path();
    std::string kind = first_line(device / "class");  // 0x0300: VGA, 0x0302: 3D controller.
    bool is_gpu = kind.starts_with("0x0300") || kind.starts_with("0x0302");
    if (!is_gpu || first_line(device / "vendor") != "0x10de") continue;
    std::error_code ignored;  // No such link is the answer "no".
    if (fs::exists(device / "physfn", ignored)) continue;
    fs::path driver = fs::read_symlink(device / "driver", ignored);
    gpus.push_back({.address = device.filename(), .driver = driver.filename()});
  }
  std::ranges::sort(gpus, {}, &PciGpu::address);
  return gpus;
}

std::string sysfs_address(uint32_t domain, uint32_t bus, uint32_t device) {
  return base::format("{:04x}:{:02x}:{:02x}.0", domain, bus, device);
}

std::string nvidia_smi_address(uint32_t domain, uint32_t bus, uint32_t device) {
  return base::format("{:08X}:{:02X}:{:02X}.0", domain, bus, device);
}

}  // namespace gpu
