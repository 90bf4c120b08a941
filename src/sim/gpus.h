// The GPUs of one machine as they physically are: which containers have processes on them, and what
// stays in their memory after those have died.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/gpu.h"
#include "sim/environment.h"

namespace sim {

struct PhysicalGpu {
  model::GpuDevice device;
  bool on_bus = true;
  // Container id to MiB: what it may have at most. 0: the whole GPU.
  std::map<std::string, int64_t> processes;
  int64_t residue_mib = 0;     // Held by no process that can be named.
  uint64_t residue_since = 0;  // Tells one residue from the next.

  bool is_empty() const { return processes.empty() && residue_mib == 0; }
};

class Gpus {
 public:
  Gpus(Environment& environment, std::string who, std::vector<model::GpuDevice> devices);

  // nullptr: there is no such GPU in the machine.
  const PhysicalGpu* find(const std::string& uuid) const;
  const std::map<std::string, PhysicalGpu>& all() const { return gpus_; }
  void attach(const std::string& uuid, const std::string& container, int64_t mib);
  // The container's processes end; its memory may stay for a while.
  void detach(const std::string& container);
  void fall_off_the_bus(const std::string& uuid);
  // The machine was switched off: all are back, and empty.
  void power_cycle();

 private:
  void leave_residue(PhysicalGpu& gpu, int64_t mib);

  Environment& environment_;
  std::string who_;
  std::map<std::string, PhysicalGpu> gpus_;  // By UUID.
};

}  // namespace sim
