// What Docker and the GPU driver of a simulated machine answer to each operation.
#pragma once

#include "sim/machine.h"

namespace sim {

// Performs the operation now; the answer is to be delivered after the delay. A pull and the
// shipping of logs that take their time answer by themselves: nullopt.
struct MachineCalls {
  Machine& machine;
  agent::core::OperationId id = 0;
  const Machine::Answer& answer;

  using Result = std::optional<agent::core::OperationResult>;
  Result operator()(const agent::core::InspectImage& request) const;
  Result operator()(const agent::core::PullImage& request) const;
  Result operator()(const agent::core::CreateContainer& request) const;
  Result operator()(const agent::core::StartContainer& request) const;
  Result operator()(const agent::core::StopContainer& request) const;
  Result operator()(const agent::core::KillContainer& request) const;
  Result operator()(const agent::core::RemoveContainer& request) const;
  Result operator()(const agent::core::InspectContainer& request) const;
  Result operator()(const agent::core::ListContainers& request) const;
  Result operator()(const agent::core::CreateVolume& request) const;
  Result operator()(const agent::core::RemoveVolume& request) const;
  Result operator()(const agent::core::ShipLogs& request) const;
  Result operator()(const agent::core::ProbeGpu& request) const;
  Result operator()(const agent::core::EndProcesses& request) const;

 private:
  // The program runs, at once or a little later, and Docker does not know.
  Result start_untruly(SimContainer& container) const;
  void answer_when_dead(const std::string& container, base::Milliseconds checked_every) const;
};

}  // namespace sim
