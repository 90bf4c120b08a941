// Completes a create request with what only the machine and other services know: variables of
// files, secrets, ports side by side, the task's cgroup and its network.
#pragma once

#include <filesystem>
#include <string>

#include "agent/agent.h"
#include "agent/api_client.h"
#include "agent/core/runtime.h"
#include "agent/secrets.h"
#include "agent/task_cgroups.h"
#include "base/time.h"
#include "docker/runtime.h"

namespace agent {

struct SetupParts {
  const DockerAccess& docker;
  ApiClient& api;
  const AgentOptions& options;
  base::Clock& clock;
};

// Blocks; any thread. `keys` are those of the task's execution role.
// Errors: "ResourceInitializationError" with what failed and what to do.
SetupResult<core::CreateContainer> complete_request(const SetupParts& parts,
                                                    core::CreateContainer request,
                                                    const Keys& keys);

// What complete_request made for the task, beside the container.
void forget_setup(const SetupParts& parts, const std::string& task_arn);

}  // namespace agent
