// A task's volumes, and what a container mounts.
#pragma once

#include <string>
#include <vector>

#include "acs/payload.h"
#include "agent/core/runtime.h"
#include "agent/core/task.h"
#include "base/result.h"

namespace agent::core {

// The volumes that the agent makes in Docker: those of type docker, and host volumes without path.
std::vector<VolumeWork> volumes_to_make(const acs::Task& task);
CreateVolume create_volume_request(const acs::Task& task, const VolumeWork& volume);

// "source:/path" and "source:/path:ro", as Docker's HostConfig.Binds.
// Errors: DockerClientConfigError for a volume that the task does not have.
base::Result<std::vector<std::string>> binds(const acs::Task& task,
                                             const acs::Container& container);

}  // namespace agent::core
