// All that must hold of a task definition before it is registered.
#pragma once

#include <cstddef>

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control {

// Source: ECS service quotas.
inline constexpr size_t most_containers = 10;
inline constexpr size_t most_definition_bytes = 65536;

// Errors: ClientException, and InvalidParameterException for tags and placement constraints; the
// sentence names the container and member, and what would be right. Where AWS's own sentence is
// known, the error begins with it.
// Sources: ECS API reference, RegisterTaskDefinition and the types of its parameters; ECS Developer
// Guide, "Amazon ECS task definition parameters".
base::Result<void> validate_task_definition(const api::ecs::RegisterTaskDefinitionRequest& request);

}  // namespace control
