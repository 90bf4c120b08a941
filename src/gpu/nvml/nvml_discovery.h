// Reads every GPU of the machine through NVML. Functions of the library in, records out: a test
// gives functions of its own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/devices.h"
#include "gpu/nvml/nvml_api.h"

namespace gpu {

struct WholeGpu {
  std::string uuid = {};
  NvmlDevice handle = nullptr;
};

struct NvmlMachine {
  Inventory inventory;
  std::vector<WholeGpu> whole;                // Every readable GPU, those in MIG mode too.
  std::map<std::string, NvmlDevice> by_uuid;  // Everything in inventory.gpus.
};

// After a successful init. A GPU that cannot be read becomes a line of inventory.problems, and the
// others are listed. Errors: GpuDriverException when even the driver version or the number of GPUs
// cannot be had.
base::Result<NvmlMachine> read_machine(const NvmlFunctions& call,
                                       const std::filesystem::path& sysfs);

// Memory of a GPU or MIG instance in MiB, without the driver's reserve where the driver tells it.
// A GPU that shares the machine's memory has none of its own: total 0.
struct NvmlMemoryUse {
  int64_t total_mib = 0;
  int64_t used_mib = 0;
};
NvmlReturn read_memory(const NvmlFunctions& call, NvmlDevice device, NvmlMemoryUse& memory);

}  // namespace gpu
