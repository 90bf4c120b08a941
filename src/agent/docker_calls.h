// The core's requests as calls of Docker.
#pragma once

#include "agent/agent.h"
#include "agent/core/runtime.h"
#include "docker/runtime.h"

namespace agent {

// Without the secrets that Docker may quote where it says why it did not start.
core::ContainerInfo to_container_info(docker::ContainerState state);

// Blocks until Docker has answered. Not for PullImage, and not for ShipLogs and ProbeGpu, which
// Docker knows nothing of. Inspecting the pause image makes it where it is not there.
core::OperationResult call_docker(const core::Request& request, const DockerAccess& docker);
// The same for a PullImage, once its login is known. `stop` breaks it off.
core::OperationResult pull_image(const docker::PullRequest& request, const DockerAccess& docker,
                                 const docker::OnPullProgress& on_progress);

}  // namespace agent
