// Emulated GPUs: the devices of an EC2 instance type on a machine that has none. Containers are
// real; each gets a device node /dev/nvidia<N> per assigned GPU and an nvidia-smi that lists just
// those and says that they are emulated. No CUDA runs on them.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "gpu/devices.h"
#include "model/catalogue.h"

namespace gpu {

struct EmulatedOptions {
  std::string instance_type;  // "p3.8xlarge"; a CPU type has no devices, which is fine.
  std::string seed_name;      // Identity of the instance: the same name has the same GPUs for ever.
  // The instance's own directory, made if absent. dockerd must see it under the same path.
  std::filesystem::path data_dir;
};

// For rehearsals and tests, what happens to a GPU can be made up: the file
// data_dir/gpu/state/<UUID>, if there is one, says one thing a line, and is read at each look:
//   process PID MIB     a process is on the GPU and has so much of its memory
//   used MIB            so much of its memory is in use by nobody's process
//   utilization PERCENT, temperature CELSIUS, power WATTS
//                       what is measured; without them it is idle, and has neither heat nor power
//   unhealthy REASON    the GPU has failed; without the line it is well again
//
// Writes nvidia-smi, nvidia-cuda-mps-control (gpu/mps: a daemon that serves no CUDA) and the device
// nodes under data_dir.
// Where device nodes may not be made (no CAP_MKNOD), or where the machine has a real NVIDIA driver
// (major 195 would reach a real GPU), the nodes of containers stand on /dev/null instead.
// Errors: InvalidParameterException for an unknown type (names the nearest) or a missing seed_name,
// ServerException when data_dir cannot be written.
base::Result<std::unique_ptr<Devices>> emulated_devices(const EmulatedOptions& options);

}  // namespace gpu
