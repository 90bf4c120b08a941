// The agent's own word on what tasks may ask of its machine: what the control plane sends is not
// trusted with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/core/config.h"
#include "agent/core/runtime.h"
#include "agent/core/task.h"
#include "base/result.h"
#include "json/value.h"

namespace agent::core {

inline constexpr std::string_view not_allowed_error = "NotAllowedError";

// Of a create request before the agent adds anything of its own. What is not known to be harmless
// is refused, however it is spelled: Docker reads names of members in any case. Errors:
// "NotAllowedError".
base::Result<void> check_bounds(const Config& config, const Task& task, const json::Value& body,
                                const json::Value& host);

// The paths of the machine that it mounts, as they are spelled.
std::vector<std::string> mounted_host_paths(const json::Value& host);

// False for a volume that the machine does not allow: no container that mounts it is made.
bool may_make(const Config& config, const acs::Task& task, const VolumeWork& volume);

}  // namespace agent::core
