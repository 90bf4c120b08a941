// What a simulated machine's agent says of it when it registers.
#pragma once

#include <set>
#include <string>

#include "api/generated/ecs.h"
#include "sim/machine.h"

namespace sim {

// `found`: UUIDs of the GPUs that were there when the agent's process started.
// docker_reason: why Docker does not answer; empty when it does. arn: empty for a new instance.
api::ecs::RegisterContainerInstanceRequest registration_request(const Machine& machine,
                                                                const std::set<std::string>& found,
                                                                const std::string& docker_reason,
                                                                const std::string& arn);

}  // namespace sim
