// What the telemetry stream says of this machine and its tasks, from values. Message ids are the
// sender's to fill in.
// Source: amazon-ecs-agent, ecs-agent/tcs/model/ecstcs and agent/stats/engine.go for the names and
// units of GPU metrics.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "acs/telemetry.h"
#include "agent/container_meter.h"
#include "agent/core/core.h"
#include "agent/metadata.h"
#include "base/time.h"
#include "gpu/devices.h"

namespace agent {

struct MachineView {
  const core::Core& core;
  const gpu::Inventory& gpus;
  const std::vector<GpuFigures>& figures;  // Of those GPUs that could be measured.
  const ContainerFiguresById& containers;  // Of those that could be measured.
};

// One round: never empty, at most ten tasks a message, what is told of the machine in the first,
// `fin` in the last.
std::vector<acs::PublishMetricsRequest> metrics_round(const MachineView& view, base::Time now);

// The instance's checks of itself: ContainerRuntime, and AcceleratedCompute where there are GPUs.
class InstanceChecks {
 public:
  acs::PublishInstanceStatusRequest report(const MachineView& view, base::Time now);

 private:
  struct Known {
    std::string status;
    base::Time since{};
  };
  acs::InstanceHealth check(const std::string& type, const std::string& trouble, base::Time now);

  std::map<std::string, Known> known_;  // By type: what was told last.
};

}  // namespace agent
