// What an agent does before it asks Docker for a container that names secrets: fetches them with
// the key of the task's execution role, and puts them into the request. What src/agent's
// container_setup does, over the simulated network.
#pragma once

#include <expected>
#include <functional>
#include <optional>

#include "acs/payload.h"
#include "agent/core/runtime.h"
#include "sim/environment.h"
#include "sim/expectations.h"
#include "sim/network.h"

namespace sim {

using CompletedRequest = std::expected<agent::core::CreateContainer, agent::core::OperationError>;

// `done` is called once, later; the agent may have died by then. A call without an answer is made
// three times. The references outlive it. Errors: ResourceInitializationError, in ECS's words.
void fetch_secrets(Environment& environment, Link& link, ApiServer& server,
                   Expectations& expectations, agent::core::CreateContainer request,
                   const acs::IAMRoleCredentials& key, std::function<void(CompletedRequest)> done);

}  // namespace sim
