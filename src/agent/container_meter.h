// What containers use of their machine: from what Docker has counted of them to the figures that
// the telemetry stream tells. Values only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "acs/telemetry.h"
#include "base/time.h"

namespace agent {

// Docker's counters of one container that runs.
struct ContainerSample {
  std::string runtime_id;
  base::Time read_at{};
  uint64_t cpu_total_ns = 0;  // Since its start, of all its processes.
  uint32_t cores = 0;         // Of the machine.
  uint64_t memory_bytes = 0;
};

// Since the look before.
struct ContainerFigures {
  acs::StatsSet cpu;     // Percent of all the machine's cores together, as official agents tell it.
  acs::StatsSet memory;  // MiB.
};
using ContainerFiguresById = std::map<std::string, ContainerFigures>;  // By runtime_id.

// Belongs to one thread.
class ContainerMeter {
 public:
  // One look at all containers that run. One that is seen for the first time, or that has started
  // anew since, has figures after the next look; those that are not among them are forgotten.
  void take(std::vector<ContainerSample> samples);
  const ContainerFiguresById& figures() const { return figures_; }

 private:
  std::map<std::string, ContainerSample> last_;  // By runtime_id.
  ContainerFiguresById figures_;
};

}  // namespace agent
