#include "gpu/emulated/emulated_devices.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/format.h"
#include "gpu/embedded.h"

namespace gpu {
namespace {

namespace fs = std::filesystem;

constexpr unsigned nvidia_major = 195;  // Linux's list of devices: NVIDIA graphics devices.
constexpr const char* info_path_in_container = "/run/berth/gpus";  // nvidia_smi.c reads it.
constexpr const char* smi_path_in_container = "/usr/bin/nvidia-smi";

std::unexpected<base::Error> cannot_write(const fs::path& path, std::string_view why) {
  return base::fail("ServerException",
                    base::format("Cannot write {}: {}. Emulated GPUs need a data directory that "
                                 "the agent may write.",
                                 path.string(), why));
}

base::Result<void> make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) return cannot_write(path, error.message());
  return {};
}

// Replaces the file in one step: containers that have the old one keep it whole, and a program that
// is running is never written to. A file that is right already is left alone.
base::Result<void> write_file(const fs::path& path, std::string_view content, mode_t mode) {
  std::ifstream old(path, std::ios::binary);
  std::string present{std::istreambuf_iterator<char>(old), {}};
  if (!old.is_open() || present != content) {
    fs::path fresh = path;
    fresh += ".new";
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();
    if (!file) return cannot_write(fresh, std::strerror(errno));
    if (::rename(fresh.c_str(), path.c_str()) != 0) return cannot_write(path, std::strerror(errno));
  }
  if (::chmod(path.c_str(), mode) != 0) return cannot_write(path, std::strerror(errno));
  return {};
}

// The host side of /dev/nvidia<index>: a node of NVIDIA's own device number, which no driver
// answers (open gives ENXIO), or /dev/null where no such node may be made.
base::Result<std::string> make_node(const fs::path& path, unsigned index) {
  dev_t device = makedev(nvidia_major, index);
  struct stat present = {};
  if (::lstat(path.c_str(), &present) == 0) {
    if (S_ISCHR(present.st_mode) && present.st_rdev == device) return path.string();
    if (::unlink(path.c_str()) != 0) return cannot_write(path, std::strerror(errno));
  }
  if (::mknod(path.c_str(), S_IFCHR | 0666, device) != 0) {
    if (errno == EPERM || errno == EACCES) return "/dev/null";
    return cannot_write(path, std::strerror(errno));
  }
  if (::chmod(path.c_str(), 0666) != 0) return cannot_write(path, std::strerror(errno));
  return path.string();
}

// What the file state/<UUID> makes up.
struct MadeUp {
  DeviceUse use;
  std::string unhealthy;  // Why; empty: it is well.
};

MadeUp read_made_up(const fs::path& path) {
  MadeUp made;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string kind;
    int64_t pid = 0;
    int64_t mib = 0;
    double figure = 0;
    words >> kind;
    if (kind == "process" && words >> pid >> mib) {
      made.use.processes.push_back({pid, mib});
      made.use.used_mib += mib;
    } else if (kind == "used" && words >> mib) {
      made.use.used_mib += mib;
    } else if (kind == "utilization" && words >> figure) {
      made.use.utilisation_percent = static_cast<int32_t>(std::clamp(figure, 0.0, 100.0));
    } else if (kind == "temperature" && words >> figure) {
      made.use.temperature_celsius = figure;
    } else if (kind == "power" && words >> figure) {
      made.use.power_watts = figure;
    } else if (kind == "unhealthy") {
      std::getline(words >> std::ws, made.unhealthy);
      if (made.unhealthy.empty()) made.unhealthy = "made up as unhealthy";
    }
  }
  return made;
}

bool has_nvidia_driver() {
  std::error_code ignored;  // Unreadable is as good as absent.
  return fs::exists("/proc/driver/nvidia", ignored);
}

class EmulatedDevices final : public Devices {
 public:
  static base::Result<std::unique_ptr<Devices>> create(const EmulatedOptions& options) {
    const model::InstanceType* type = TRY(model::require_instance_type(options.instance_type));
    if (options.seed_name.empty()) {
      return base::fail(
          "InvalidParameterException",
          "Emulated GPUs need the name of their instance: their UUIDs derive from it.");
    }
    std::unique_ptr<EmulatedDevices> devices(new EmulatedDevices(
        *type, model::emulated_gpus(*type, options.seed_name), fs::absolute(options.data_dir)));
    if (!devices->gpus_.empty()) TRY_VOID(devices->prepare());
    return std::unique_ptr<Devices>(std::move(devices));
  }

  bool emulated() const override { return true; }

  base::Result<Inventory> discover() override {
    Inventory found{.gpus = gpus_,
                    .driver_version = std::string(type_.gpus.driver_version),
                    .cuda_version = std::string(type_.gpus.cuda_version)};
    if (!gpus_.empty()) found.mps.control_program = mps_program().string();
    for (model::GpuDevice& gpu : found.gpus) {
      gpu.health_reason = read_made_up(state_of(gpu.uuid)).unhealthy;
      gpu.healthy = gpu.health_reason.empty();
      unhealthy_[gpu.uuid] = gpu.health_reason;
    }
    return found;
  }

  base::Result<DeviceUse> use(const std::string& uuid) override {
    size_t index = TRY(index_of(uuid));
    DeviceUse now = read_made_up(state_of(uuid)).use;  // Nothing real can run on it.
    now.total_mib = gpus_[index].memory_mib;
    return now;
  }

  base::Result<ContainerGpuSetup> container_setup(std::span<const std::string> uuids) override {
    ContainerGpuSetup setup;
    if (uuids.empty()) {
      // On a machine whose default runtime is nvidia, a variable of the image would bring in real
      // GPUs.
      if (real_driver_ || !gpus_.empty()) setup.env["NVIDIA_VISIBLE_DEVICES"] = "void";
      return setup;
    }
    std::vector<size_t> indexes;
    for (const std::string& uuid : uuids) indexes.push_back(TRY(index_of(uuid)));
    std::ranges::sort(indexes);
    indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());

    setup.env["NVIDIA_VISIBLE_DEVICES"] =
        real_driver_ ? "void" : base::format("{}", base::join(uuids, ","));
    for (size_t index : indexes) {
      setup.devices.push_back(
          {.host_path = nodes_[index], .container_path = base::format("/dev/nvidia{}", index)});
    }
    setup.binds.push_back(
        {.host_path = TRY(write_info(indexes)), .container_path = info_path_in_container});
    setup.binds.push_back({.host_path = (directory_ / "nvidia-smi").string(),
                           .container_path = smi_path_in_container});
    return setup;
  }

  std::vector<HealthEvent> health() override {
    std::vector<HealthEvent> events;
    for (const model::GpuDevice& gpu : gpus_) {
      std::string now = read_made_up(state_of(gpu.uuid)).unhealthy;
      std::string& before = unhealthy_[gpu.uuid];
      if (now == before) continue;
      before = now;
      const bool usable = now.empty();
      events.push_back({.uuid = gpu.uuid,
                        .usable = usable,
                        .reason = usable ? "it is well again" : std::move(now)});
    }
    return events;
  }

 private:
  EmulatedDevices(const model::InstanceType& type, std::vector<model::GpuDevice> gpus,
                  const fs::path& data_dir)
      : type_(type),
        gpus_(std::move(gpus)),
        directory_(data_dir / "gpu"),
        real_driver_(has_nvidia_driver()) {}

  base::Result<void> prepare() {
    TRY_VOID(make_directory(directory_ / "sets"));
    TRY_VOID(make_directory(directory_ / "state"));
    TRY_VOID(make_directory(mps_program().parent_path()));
    TRY_VOID(write_file(mps_program(), embedded_mps_control(), 0755));
    TRY_VOID(write_file(directory_ / "nvidia-smi", embedded_nvidia_smi(), 0755));
    for (unsigned index = 0; index < gpus_.size(); ++index) {
      if (real_driver_) {
        nodes_.emplace_back("/dev/null");
      } else {
        nodes_.push_back(TRY(make_node(directory_ / base::format("nvidia{}", index), index)));
      }
    }
    return {};
  }

  // What nvidia-smi lists in a container with these GPUs. One file per set of GPUs, since it says
  // the same for every container that has this set.
  base::Result<std::string> write_info(const std::vector<size_t>& indexes) const {
    std::string text = base::format("berth-gpus\t1\ndriver\t{}\t{}\n", type_.gpus.driver_version,
                                    type_.gpus.cuda_version);
    for (size_t index : indexes) {
      const model::GpuDevice& gpu = gpus_[index];
      text += base::format("gpu\t{}\t{}\t{}\t{}\t{}\n", index, gpu.uuid, gpu.model, gpu.memory_mib,
                           gpu.pci_bus_id);
    }
    fs::path path = directory_ / "sets" / base::format("{}", base::join(indexes, "-"));
    TRY_VOID(write_file(path, text, 0644));
    return path.string();
  }

  fs::path state_of(const std::string& uuid) const { return directory_ / "state" / uuid; }
  fs::path mps_program() const { return directory_ / "bin/nvidia-cuda-mps-control"; }

  base::Result<size_t> index_of(const std::string& uuid) const {
    auto found = std::ranges::find(gpus_, uuid, &model::GpuDevice::uuid);
    if (found == gpus_.end()) {
      return base::fail("InvalidParameterException",
                        base::format("This emulated {} has no GPU {}.", type_.name, uuid));
    }
    return static_cast<size_t>(found - gpus_.begin());
  }

  const model::InstanceType& type_;  // A row of the catalogue, which lives as long as the process.
  std::vector<model::GpuDevice> gpus_;
  fs::path directory_;
  bool real_driver_;
  std::map<std::string, std::string> unhealthy_;  // By UUID: what was told last.
  std::vector<std::string> nodes_;                // Host path of each GPU's device node, by index.
};

}  // namespace

base::Result<std::unique_ptr<Devices>> emulated_devices(const EmulatedOptions& options) {
  return EmulatedDevices::create(options);
}

}  // namespace gpu
