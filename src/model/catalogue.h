// The instance-type catalogue: what a machine of a named EC2 type has. It feeds emulated container
// instances and RegisterContainerInstance calls that bring an identity document but no resources.
// Sources: "Amazon ECS task definitions for GPU workloads" (the 17 types of its table), the EC2
// "Instance types" pages (vCPU, memory, GPUs), NVIDIA's DGX-1 and DGX A100 system architecture
// white papers (NVLink and PCIe layout). Pure; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/gpu.h"

namespace model {

// How the GPUs of one machine are joined by NVLink.
enum class NvLinkTopology : uint8_t {
  None,            // PCIe only.
  HybridCubeMesh,  // DGX-1V: four neighbours each, one or two links to each; 4 GPUs: its first
                   // quad.
  Switched,        // NVSwitch: every GPU reaches every other with all of its links.
};

// The GPUs of one type of machine: they are all alike.
struct GpuLayout {
  int32_t count = 0;            // 0 = a machine without GPUs; the other fields then mean nothing.
  std::string_view model = {};  // As nvidia-smi prints it.
  std::string_view architecture = {};  // "Volta".
  int64_t memory_mib = 0;              // Per GPU, as nvidia-smi prints memory.total.
  NvLinkTopology nvlink = NvLinkTopology::None;
  int32_t links_per_gpu = 0;             // NVLink links that leave one GPU (Switched only).
  int32_t gpus_per_pcie_switch = 1;      // Consecutive GPUs below one PCIe switch.
  std::string_view driver_version = {};  // What an emulated instance claims to run.
  std::string_view cuda_version = {};    // The newest CUDA that driver supports: "12.8".
};

struct InstanceType {
  std::string_view name = {};  // "p3.8xlarge".
  int32_t vcpus = 0;           // 1 vCPU = 1024 ECS CPU units.
  int64_t memory_mib = 0;      // Nominal; an ECS agent registers a little less.
  int32_t numa_nodes = 1;      // Cores and GPUs are split evenly over them, in order.
  GpuLayout gpus = {};
};

// All types, grouped by family, sizes ascending.
std::span<const InstanceType> instance_types();

// Null when there is no such type. Names are exact: "p3.8xlarge", lower case.
const InstanceType* find_instance_type(std::string_view name);

// Names nearest to an unknown one, best first, at most `limit`; empty when nothing is near.
std::vector<std::string> similar_instance_types(std::string_view name, size_t limit = 3);

// As find_instance_type; the error names the nearest types. Error code: InvalidParameterException.
base::Result<const InstanceType*> require_instance_type(std::string_view name);

// The GPUs that an emulated instance of this type has, in index order; empty for a CPU type.
// UUIDs derive from `seed_name` (the identity of the instance) and the index alone, so that an
// agent that restarts has the same GPUs, and two instances never share one.
std::vector<GpuDevice> emulated_gpus(const InstanceType& type, std::string_view seed_name);

// A plain value for attribute ecs.instance-type of a machine that is no EC2 instance, from its
// GPUs: "gpu.nvidia-h200-x1"; several models: that of most GPUs; no GPU: "cpu". MIG instances count
// as their parent, once.
std::string instance_type_of_gpus(std::span<const GpuDevice> gpus);

}  // namespace model
