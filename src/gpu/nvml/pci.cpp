#include "gpu/nvml/pci.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "base/text.h"

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

// Network devices of one class by their PCI device, for those that have one.
std::vector<std::pair<fs::path, std::string>> nics_of(const fs::path& kind) {
  std::vector<std::pair<fs::path, std::string>> nics;
  std::error_code error;
  for (fs::directory_iterator entry(kind, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;  // No such link is a virtual interface.
    const fs::path device = fs::canonical(entry->path() / "device", ignored);
    if (!ignored && is_pci_address(device.filename())) {
      nics.emplace_back(device, entry->path().filename());
    }
  }
  std::ranges::sort(nics);
  return nics;
}

enum class Nearness : uint8_t { Far, SameNode, SameRoot, SameSwitch };

// "pci0000:17" of a canonical device path.
fs::path root_complex(const fs::path& device) {
  for (fs::path at = device; at.has_relative_path(); at = at.parent_path()) {
    if (at.filename().string().starts_with("pci")) return at;
  }
  return {};
}

Nearness nearness(const fs::path& gpu, const PciPlace& place, const fs::path& nic,
                  const fs::path& sysfs) {
  const PciPlace other = read_pci_place(sysfs, nic.filename());
  if (!place.pcie_switch.empty() && place.pcie_switch == other.pcie_switch &&
      is_pci_address(place.pcie_switch)) {
    return Nearness::SameSwitch;
  }
  const fs::path root = root_complex(gpu);
  if (!root.empty() && root == root_complex(nic)) return Nearness::SameRoot;
  if (place.numa_node >= 0 && place.numa_node == other.numa_node) return Nearness::SameNode;
  return Nearness::Far;
}

}  // namespace

PciPlace read_pci_place(const fs::path& sysfs, const std::string& address) {
  fs::path device = sysfs / "bus/pci/devices" / address;
  PciPlace place;
  std::string node = first_line(device / "numa_node");
  place.numa_node = base::parse_number<decltype(place.numa_node)>(node).value_or(place.numa_node);
  place.cpu_list = first_line(device / "local_cpulist");
  place.pcie_switch = switch_above(device);
  return place;
}

std::vector<std::string> nearest_nics(const fs::path& sysfs, const std::string& address) {
  std::error_code error;
  const fs::path gpu = fs::canonical(sysfs / "bus/pci/devices" / address, error);
  if (error) return {};
  const PciPlace place = read_pci_place(sysfs, address);
  std::map<fs::path, std::string> nics;  // By PCI device, so that RDMA names come first.
  for (const char* kind : {"class/infiniband", "class/net"}) {
    for (const auto& [device, name] : nics_of(sysfs / kind)) nics.emplace(device, name);
  }
  Nearness best = Nearness::Far;
  std::vector<std::string> names;
  for (const auto& [device, name] : nics) {
    const Nearness here = nearness(gpu, place, device, sysfs);
    if (here == Nearness::Far || here < best) continue;
    if (here > best) names.clear();
    best = here;
    names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
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
