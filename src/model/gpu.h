// One GPU as an agent discovers it. A GPU is a record, never a number: its UUID is its identity in
// every message, journal and API reply. What holds it is state of the control plane, kept
// elsewhere. Pure values; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/shape.h"

namespace model {

// The NVLink connection from one GPU to one other: all links between the two, added up.
struct NvLink {
  std::string peer = {};  // UUID of the other GPU.
  uint32_t lanes = 0;     // Active links to it, at least 1; through a switch: all links of the GPU.
  friend bool operator==(const NvLink&, const NvLink&) = default;
};
API_DESCRIBED(NvLink);

struct GpuDevice {
  std::string uuid = {};               // "GPU-<uuid>", or "MIG-<uuid>" for a MIG instance.
  std::string model = {};              // As nvidia-smi prints it: "Tesla V100-SXM2-16GB".
  std::string architecture = {};       // "Kepler", "Volta", "Turing", "Hopper"...; empty = unknown.
  int64_t memory_mib = 0;              // What containers can have, without the driver's reserve.
  std::string pci_bus_id = {};         // "00000000:3B:00.0", upper case as nvidia-smi prints it.
  std::string pcie_switch = {};        // Closest PCIe switch or root above it; empty = unknown.
  int32_t numa_node = -1;              // -1 = unknown, or the machine has one node only.
  std::string cpu_list = {};           // Cores near the GPU, "0-15,32-47"; empty = unknown.
  std::vector<NvLink> nvlinks = {};    // Sorted by peer UUID; no duplicates; never the GPU itself.
  std::vector<std::string> nics = {};  // The nearest ones, "mlx5_0", "eth0"; sorted; may be none.
  std::string mig_profile = {};        // "1g.10gb" for a MIG instance; empty for a whole GPU.
  std::string mig_parent = {};         // UUID of the GPU that a MIG instance is part of.
  bool mps_capable = false;            // CUDA MPS can share it with limits: Volta or newer.
  bool emulated = false;               // Made up from the instance-type catalogue: no silicon.
  bool healthy = true;
  std::string health_reason = {};  // Why it is unhealthy, one sentence; empty when healthy.
  friend bool operator==(const GpuDevice&, const GpuDevice&) = default;
};
API_DESCRIBED(GpuDevice);

}  // namespace model
