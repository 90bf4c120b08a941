// Devices: the GPUs of this machine, as the agent sees them. Two implementations: NVML (real) and
// emulated (from the instance-type catalogue). At most ten methods; fake_devices.h is a third, for
// tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/gpu.h"

namespace gpu {

// Whether the machine can share a GPU among containers through NVIDIA MPS.
struct MpsSupport {
  std::string control_program = {};  // Path of nvidia-cuda-mps-control; empty: it cannot.
  std::string missing = {};          // Why it cannot, cause and fix; empty when it can.
};

struct Inventory {
  // By device index. A GPU in MIG mode is not in the list, its MIG instances are.
  std::vector<model::GpuDevice> gpus = {};
  std::string driver_version = {};  // "570.86.15"; empty on a machine without GPUs.
  std::string cuda_version = {};    // Newest CUDA the driver supports, "12.8".
  MpsSupport mps = {};              // Each GPU says of itself whether MPS can share it.
  // One sentence each for a GPU that is there but cannot be used: which one, cause and fix. Such a
  // GPU is not in `gpus`; the others are.
  std::vector<std::string> problems = {};
};

struct GpuProcess {
  int64_t pid = 0;
  int64_t used_mib = 0;  // 0 when the driver does not tell (WSL, MIG, some vGPUs).
  friend bool operator==(const GpuProcess&, const GpuProcess&) = default;
};

// What is on one GPU now: the proof that a released GPU is empty.
struct DeviceUse {
  std::vector<GpuProcess> processes = {};  // Compute and graphics, by pid.
  int64_t used_mib = 0;                    // Without the driver's own reserve.
  int64_t total_mib = 0;
  int32_t utilisation_percent = 0;  // Of the last sample period; 0 where the device does not tell.
  std::optional<double> temperature_celsius = {};  // Nothing where the device does not tell.
  std::optional<double> power_watts = {};
};

struct HealthEvent {
  std::string uuid = {};    // Of the whole GPU; empty = every GPU of the machine.
  bool usable = false;      // False: new work must not be placed on it until it is looked at.
  int64_t xid = 0;          // NVIDIA's Xid error number; 0 when the event is not an Xid.
  std::string reason = {};  // One sentence: what happened and what to do.
  friend bool operator==(const HealthEvent&, const HealthEvent&) = default;
};

struct DeviceNode {
  std::string host_path = {};       // "/dev/nvidia0", or the node an emulated device stands on.
  std::string container_path = {};  // "/dev/nvidia3".
};

struct ReadOnlyBind {
  std::string host_path = {};
  std::string container_path = {};
};

// What a container gets so that it sees these GPUs and no other.
struct ContainerGpuSetup {
  std::string runtime = {};  // "nvidia" for real devices; empty = the default runtime.
  std::map<std::string, std::string> env = {};  // Set last: they win over the container's own.
  std::vector<DeviceNode> devices = {};         // Cgroup permissions "rwm".
  std::vector<ReadOnlyBind> binds = {};
};

// Calls may block (NVML takes a lock in the driver, an event poll up to 10 ms): one thread owns it.
class Devices {
 public:
  virtual ~Devices() = default;

  // True when no silicon stands behind the devices; whoever shows them says so.
  virtual bool emulated() const = 0;

  // Looks at the machine anew. Errors: GpuDriverException when nothing can be listed at all (no
  // driver, driver and library of different versions, no permission); the message names the fix.
  virtual base::Result<Inventory> discover() = 0;

  // What is on the device now. `uuid` is of a GPU or a MIG instance that discover() listed.
  // Errors: InvalidParameterException for an unknown UUID, GpuDriverException when it cannot be
  // read.
  virtual base::Result<DeviceUse> use(const std::string& uuid) = 0;

  // What a container with exactly these GPUs needs. An empty span is a container without GPUs: its
  // setup hides every GPU. Errors: as use().
  virtual base::Result<ContainerGpuSetup> container_setup(std::span<const std::string> uuids) = 0;

  // Events since the last call, oldest first; empty = all is well.
  virtual std::vector<HealthEvent> health() = 0;
};

}  // namespace gpu
