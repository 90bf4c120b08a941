// The core's requests as calls of Docker, and Docker's answers in the core's words.
#pragma once

#include <stop_token>

#include "agent/agent.h"
#include "agent/core/core.h"
#include "agent/core/runtime.h"
#include "docker/runtime.h"

namespace agent {

core::OperationError to_operation_error(const docker::Error& error);
core::ContainerInfo to_container_info(const docker::ContainerState& state);
// nullopt for events that the core does not hear of.
std::optional<core::ContainerEvent> to_core_event(const docker::ContainerEvent& event);

// Blocks until Docker has answered. `stop` breaks a pull off. Not for ShipLogs and ProbeGpu, which
// Docker knows nothing of.
core::OperationResult call_docker(const core::Request& request, const DockerAccess& docker,
                                  const std::stop_token& stop);

}  // namespace agent
