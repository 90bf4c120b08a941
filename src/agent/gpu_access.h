// What the agent does with GPUs: gives a container just its own, and proves that one is empty.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "agent/container_processes.h"
#include "agent/core/runtime.h"
#include "agent/mps_daemon.h"
#include "base/result.h"
#include "gpu/devices.h"
#include "json/value.h"

namespace agent {

// What was on a GPU before any task was.
struct GpuBaseline {
  std::set<int64_t> pids;
  int64_t used_mib = 0;
  friend bool operator==(const GpuBaseline&, const GpuBaseline&) = default;
};
using GpuBaselines = std::map<std::string, GpuBaseline>;  // By UUID.

std::string print_baselines(const GpuBaselines& baselines);
// Empty for a text that is none.
GpuBaselines parse_baselines(const std::string& text);

// The container's create request with the setup merged in: it wins over what the body says.
json::Value with_gpus(json::Value body, const gpu::ContainerGpuSetup& setup);

// Owns the devices; belongs to one thread at a time.
class GpuAccess {
 public:
  // `processes` outlives it. `proc`: where procfs is mounted.
  GpuAccess(std::unique_ptr<gpu::Devices> devices, ContainerProcesses& processes,
            MpsDirectories mps = {}, std::filesystem::path proc = "/proc")
      : devices_(std::move(devices)),
        processes_(processes),
        mps_(std::move(mps)),
        proc_(std::move(proc)) {}

  // Errors: GpuDriverException.
  base::Result<gpu::Inventory> discover();
  // Looks after the MPS daemon too.
  std::vector<gpu::HealthEvent> health();
  // No container shares a GPU: the MPS daemon has nothing to do any more.
  void stop_sharing() { mps_.stop(); }
  base::Result<gpu::DeviceUse> use(const std::string& uuid) { return devices_->use(uuid); }

  // What is on these GPUs now is not held against later tasks.
  GpuBaselines take_baselines(const gpu::Inventory& inventory);
  void set_baselines(GpuBaselines baselines) { baselines_ = std::move(baselines); }

  // For a share the MPS daemon runs when this returns.
  std::expected<gpu::ContainerGpuSetup, core::OperationError> setup(const core::GpuAccess& gpus);
  // The one door to the proof that a GPU, or a share of one, is empty.
  core::OperationResult probe(const core::ProbeGpu& request);

 private:
  // What is left of the containers that had the GPU; empty: nothing.
  std::string left_of(const std::vector<std::string>& containers);

  std::unique_ptr<gpu::Devices> devices_;
  ContainerProcesses& processes_;
  MpsDaemon mps_;
  std::filesystem::path proc_;
  GpuBaselines baselines_;
};

}  // namespace agent
