#include "gpu/nvml/nvml_discovery.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "base/format.h"
#include "base/units.h"
#include "gpu/nvml/nvml_messages.h"
#include "gpu/nvml/pci.h"

namespace gpu {
namespace {

// One readable GPU on its way to the inventory.
struct Found {
  uint32_t index = 0;
  NvmlDevice handle = nullptr;
  model::GpuDevice record = {};
  std::string address = {};  // As sysfs writes it.
  bool mig = false;
};

// Reads one GPU; stops at the first call that fails and says which.
class Reader {
 public:
  Reader(const NvmlFunctions& call, const std::filesystem::path& sysfs, uint32_t index)
      : call_(call), sysfs_(sysfs) {
    found_.index = index;
  }

  std::optional<Found> read() {
    if (!ok("open", call_.device_by_index(found_.index, &found_.handle))) return {};
    char text[nvml_text_size] = {};
    NvmlPciInfo pci;
    // Name and address first: they say which GPU a later failure is about.
    if (!ok("read the name of", call_.name(found_.handle, text, sizeof text))) return {};
    found_.record.model = text;
    if (!ok("read the PCI address of", call_.pci_info(found_.handle, &pci))) return {};
    found_.address = sysfs_address(pci.domain, pci.bus, pci.device);
    found_.record.pci_bus_id = nvidia_smi_address(pci.domain, pci.bus, pci.device);
    if (!ok("read the UUID of", call_.uuid(found_.handle, text, sizeof text))) return {};
    found_.record.uuid = text;
    NvmlMemoryUse memory;
    if (!ok("read the memory of", read_memory(call_, found_.handle, memory))) return {};
    found_.record.memory_mib = memory.total_mib;
    read_place();
    read_architecture();
    read_health();
    found_.mig = in_mig_mode();
    return std::move(found_);
  }

  // After read() gave nothing.
  std::string problem() const { return problem_; }

 private:
  bool ok(std::string_view what, NvmlReturn code) {
    if (code == NvmlReturn::Success) return true;
    std::string which = base::format("GPU {}", found_.index);
    if (!found_.record.model.empty()) which += base::format(" ({}", found_.record.model);
    if (!found_.record.pci_bus_id.empty()) which += base::format(", {}", found_.record.pci_bus_id);
    if (!found_.record.model.empty()) which += ')';
    problem_ = base::format("Cannot {} {}: {}. {} It is left out until then.", what, which,
                            call_.error_string(code), fix_for(code));
    return false;
  }

  void read_place() {
    PciPlace place = read_pci_place(sysfs_, found_.address);
    found_.record.numa_node = place.numa_node;
    found_.record.cpu_list = place.cpu_list;
    found_.record.pcie_switch = place.pcie_switch;
    found_.record.nics = nearest_nics(sysfs_, found_.address);
  }

  void read_architecture() {
    int32_t major = 0, minor = 0;
    if (call_.compute_capability == nullptr ||
        call_.compute_capability(found_.handle, &major, &minor) != NvmlReturn::Success) {
      return;
    }
    found_.record.mps_capable = major >= 7;
    found_.record.architecture = architecture(major, minor);
  }

  static std::string architecture(int32_t major, int32_t minor) {
    switch (major) {
      case 3:
        return "Kepler";
      case 5:
        return "Maxwell";
      case 6:
        return "Pascal";
      case 7:
        return minor < 5 ? "Volta" : "Turing";
      case 8:
        return minor < 9 ? "Ampere" : "Ada";
      case 9:
        return "Hopper";
      case 10:
      case 11:
      case 12:
        return "Blackwell";
      default:
        return {};
    }
  }

  void read_health() {
    uint32_t corrected = 0, uncorrected = 0, pending = 0, failed = 0;
    if (call_.remapped_rows == nullptr ||
        call_.remapped_rows(found_.handle, &corrected, &uncorrected, &pending, &failed) !=
            NvmlReturn::Success) {
      return;
    }
    if (failed == 0) return;
    found_.record.healthy = false;
    found_.record.health_reason =
        "A faulty memory row could not be replaced by a spare one; run NVIDIA's field diagnostics "
        "and replace the GPU.";
  }

  bool in_mig_mode() const {
    uint32_t current = 0, pending = 0;
    return call_.mig_mode != nullptr &&
           call_.mig_mode(found_.handle, &current, &pending) == NvmlReturn::Success && current == 1;
  }

  const NvmlFunctions& call_;
  const std::filesystem::path& sysfs_;
  Found found_;
  std::string problem_;
};

// The links of one GPU: how many go to each address, and how many into a switch.
struct Links {
  std::map<std::string, uint32_t> direct;
  uint32_t into_switch = 0;
};

Links read_links(const NvmlFunctions& call, NvmlDevice device) {
  Links links;
  if (call.link_state == nullptr || call.link_remote_pci == nullptr) return links;
  for (uint32_t link = 0; link < nvml_max_links; ++link) {
    uint32_t active = 0;
    if (call.link_state(device, link, &active) != NvmlReturn::Success || active == 0) continue;
    uint32_t type = nvml_remote_is_gpu;
    if (call.link_remote_type != nullptr &&
        call.link_remote_type(device, link, &type) == NvmlReturn::Success &&
        type == nvml_remote_is_switch) {
      ++links.into_switch;
      continue;
    }
    NvmlPciInfo remote;
    if (call.link_remote_pci(device, link, &remote) != NvmlReturn::Success) continue;
    ++links.direct[sysfs_address(remote.domain, remote.bus, remote.device)];
  }
  return links;
}

// GPUs in MIG mode have their NVLinks switched off for programs, so they are no one's peer.
void join_by_nvlink(const NvmlFunctions& call, std::vector<Found>& gpus) {
  std::vector<Links> links;
  links.reserve(gpus.size());
  for (const Found& gpu : gpus) links.push_back(gpu.mig ? Links{} : read_links(call, gpu.handle));
  for (size_t a = 0; a < gpus.size(); ++a) {
    for (size_t b = 0; b < gpus.size(); ++b) {
      if (a == b || gpus[a].mig || gpus[b].mig) continue;
      auto direct = links[a].direct.find(gpus[b].address);
      uint32_t lanes = std::min(links[a].into_switch, links[b].into_switch);
      if (direct != links[a].direct.end()) lanes += direct->second;
      if (lanes > 0) gpus[a].record.nvlinks.push_back({gpus[b].record.uuid, lanes});
    }
    std::ranges::sort(gpus[a].record.nvlinks, {}, &model::NvLink::peer);
  }
}

// "1g.18gb", or "1c.3g.71gb" for a compute instance smaller than its GPU instance. The driver's
// name ends with it; older drivers give the figures only.
std::string mig_profile(const NvmlFunctions& call, NvmlDevice device, std::string_view name) {
  constexpr std::string_view mark = " MIG ";
  if (size_t at = name.find(mark); at != std::string_view::npos) {
    return std::string(name.substr(at + mark.size()));
  }
  NvmlMigAttributes has;
  if (call.mig_attributes == nullptr || call.mig_attributes(device, &has) != NvmlReturn::Success) {
    return {};
  }
  std::string profile = base::format("{}g.{}gb", has.gpu_slices, (has.memory_mib + 1023) / 1024);
  if (has.compute_slices >= has.gpu_slices) return profile;
  return base::format("{}c.{}", has.compute_slices, profile);
}

void add_mig_instances(const NvmlFunctions& call, const Found& gpu, NvmlMachine& machine) {
  uint32_t slots = 0;
  bool listed = call.mig_max_count != nullptr && call.mig_by_index != nullptr &&
                call.mig_max_count(gpu.handle, &slots) == NvmlReturn::Success;
  size_t before = machine.inventory.gpus.size();
  for (uint32_t slot = 0; listed && slot < slots; ++slot) {
    NvmlDevice instance = nullptr;
    NvmlReturn code = call.mig_by_index(gpu.handle, slot, &instance);
    if (code == NvmlReturn::NotFound) continue;  // An empty slot.
    char uuid[nvml_text_size] = {}, name[nvml_text_size] = {};
    NvmlMemoryUse memory;
    if (code == NvmlReturn::Success) code = call.uuid(instance, uuid, sizeof uuid);
    if (code == NvmlReturn::Success) code = call.name(instance, name, sizeof name);
    if (code == NvmlReturn::Success) code = read_memory(call, instance, memory);
    if (code != NvmlReturn::Success) {
      machine.inventory.problems.push_back(base::format(
          "Cannot read MIG instance {} of GPU {} ({}): {}. {} It is left out until then.", slot,
          gpu.index, gpu.record.model, call.error_string(code), fix_for(code)));
      continue;
    }
    model::GpuDevice record = gpu.record;
    record.uuid = uuid;
    record.model = name;
    record.memory_mib = memory.total_mib;
    record.mig_profile = mig_profile(call, instance, name);
    record.mig_parent = gpu.record.uuid;
    machine.by_uuid[record.uuid] = instance;
    machine.inventory.gpus.push_back(std::move(record));
  }
  if (machine.inventory.gpus.size() > before) return;
  machine.inventory.problems.push_back(base::format(
      "GPU {0} ({1}, {2}) is in MIG mode without usable MIG instances. Create some (nvidia-smi mig "
      "-i {0} -cgi PROFILE -C) or leave MIG mode (nvidia-smi -i {0} -mig 0).",
      gpu.index, gpu.record.model, gpu.record.pci_bus_id));
}

// GPUs on the bus that NVML did not list. `some_failed_to_open`: those have a line already, under
// their index, since their address is unknown.
void add_unlisted(const std::filesystem::path& sysfs, const std::set<std::string>& listed,
                  bool some_failed_to_open, std::vector<std::string>& problems) {
  for (const PciGpu& gpu : nvidia_pci_gpus(sysfs)) {
    if (listed.contains(gpu.address)) continue;
    if (gpu.driver == "nvidia") {
      if (some_failed_to_open) continue;
      problems.push_back(base::format(
          "The NVIDIA GPU at {} is not listed by its driver: it failed to start (look for NVRM in "
          "dmesg), or this process runs in a container that does not have it.",
          gpu.address));
    } else {
      problems.push_back(base::format(
          "The NVIDIA GPU at {} is run by {}, not by the NVIDIA driver. Bind it to the driver "
          "nvidia to use it here.",
          gpu.address, gpu.driver.empty() ? "no driver" : gpu.driver));
    }
  }
}

std::string cuda_version(const NvmlFunctions& call) {
  int32_t version = 0;
  if (call.cuda_version == nullptr || call.cuda_version(&version) != NvmlReturn::Success) return {};
  return base::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

NvmlReturn read_memory(const NvmlFunctions& call, NvmlDevice device, NvmlMemoryUse& memory) {
  if (call.memory_v2 != nullptr) {
    NvmlMemoryV2 now;
    NvmlReturn code = call.memory_v2(device, &now);
    if (code == NvmlReturn::Success) {
      memory.total_mib = static_cast<int64_t>((now.total - now.reserved) / base::bytes_per_mib);
      memory.used_mib = static_cast<int64_t>(now.used / base::bytes_per_mib);
      return code;
    }
    if (code == NvmlReturn::GpuIsLost || code == NvmlReturn::ResetRequired) return code;
  }
  NvmlMemory now;
  NvmlReturn code = call.memory(device, &now);
  if (code == NvmlReturn::NotSupported) {
    memory = {};
    return NvmlReturn::Success;
  }
  memory.total_mib = static_cast<int64_t>(now.total / base::bytes_per_mib);
  memory.used_mib = static_cast<int64_t>(now.used / base::bytes_per_mib);
  return code;
}

base::Result<NvmlMachine> read_machine(const NvmlFunctions& call,
                                       const std::filesystem::path& sysfs) {
  NvmlMachine machine;
  Inventory& inventory = machine.inventory;
  auto failed = [&](std::string_view what, NvmlReturn code) {
    return base::fail("GpuDriverException",
                      base::format("The NVIDIA driver cannot tell {}: {}. {}", what,
                                   call.error_string(code), fix_for(code)));
  };
  char version[nvml_text_size] = {};
  NvmlReturn code = call.driver_version(version, sizeof version);
  if (code != NvmlReturn::Success) return failed("its version", code);
  inventory.driver_version = version;
  inventory.cuda_version = cuda_version(call);
  uint32_t count = 0;
  code = call.device_count(&count);
  if (code != NvmlReturn::Success) return failed("the number of its GPUs", code);

  std::vector<Found> gpus;
  std::set<std::string> listed;
  bool some_failed_to_open = false;
  for (uint32_t index = 0; index < count; ++index) {
    Reader reader(call, sysfs, index);
    if (std::optional<Found> gpu = reader.read()) {
      listed.insert(gpu->address);
      gpus.push_back(std::move(*gpu));
    } else {
      inventory.problems.push_back(reader.problem());
      some_failed_to_open = true;
    }
  }
  join_by_nvlink(call, gpus);
  for (const Found& gpu : gpus) {
    machine.whole.push_back({.uuid = gpu.record.uuid, .handle = gpu.handle});
    if (gpu.mig) {
      add_mig_instances(call, gpu, machine);
    } else {
      machine.by_uuid[gpu.record.uuid] = gpu.handle;
      inventory.gpus.push_back(gpu.record);
    }
  }
  add_unlisted(sysfs, listed, some_failed_to_open, inventory.problems);
  return machine;
}

}  // namespace gpu
