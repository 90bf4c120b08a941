// The ways in which people write a GPU requirement that are not ECS's: named, with the right shape,
// instead of dropped in silence.
#pragma once

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control {

// Errors: ClientException that names the member and shows resourceRequirements as meant.
base::Result<void> refuse_gpu_mistakes(const api::ecs::ContainerDefinition& container);
base::Result<void> refuse_gpu_mistakes(const api::ecs::ContainerOverride& container);

}  // namespace control
