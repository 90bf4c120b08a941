// The core's requests as calls of Docker, and Docker's answers in the core's words.
#pragma once

#include <optional>
#include <string>

#include "agent/agent.h"
#include "agent/core/core.h"
#include "agent/core/runtime.h"
#include "docker/runtime.h"

namespace agent {

core::OperationError to_operation_error(const docker::Error& error);
core::ContainerInfo to_container_info(const docker::ContainerState& state);
// nullopt for events that the core does not hear of.
std::optional<core::ContainerEvent> to_core_event(const docker::ContainerEvent& event);

// Blocks until Docker has answered. Not for PullImage, and not for ShipLogs and ProbeGpu, which
// Docker knows nothing of. Inspecting the pause image makes it where it is not there.
core::OperationResult call_docker(const core::Request& request, const DockerAccess& docker);
// The same for a PullImage, once its login is known. `stop` breaks it off.
core::OperationResult pull_image(const docker::PullRequest& request, const DockerAccess& docker,
                                 const docker::OnPullProgress& on_progress);

}  // namespace agent
