// The real GPUs of this machine, through NVIDIA's management library (libnvidia-ml.so.1, loaded
// when first asked for: Berth itself needs no NVIDIA software to build or to start).
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/devices.h"
#include "gpu/nvml/nvml_library.h"

namespace gpu {

// Where the machine is read from; tests point these elsewhere.
struct MachinePaths {
  std::string sysfs = "/sys";
  std::string procfs = "/proc";
  // Where nvidia-cuda-mps-control may be; the last two are of NVIDIA's driver containers.
  std::vector<std::filesystem::path> programs = {"/usr/bin", "/usr/local/bin", "/opt/bin",
                                                 "/usr/local/nvidia/bin",
                                                 "/run/nvidia/driver/usr/bin"};
};

using OpenNvml = std::function<base::Result<NvmlLibrary>()>;

// discover() of a machine without an NVIDIA card and without a driver is an empty Inventory: a CPU
// machine. A card without a usable driver is the error GpuDriverException.
std::unique_ptr<Devices> nvml_devices();

// As above with the library and the file systems given.
std::unique_ptr<Devices> nvml_devices(OpenNvml open, MachinePaths paths);

}  // namespace gpu
