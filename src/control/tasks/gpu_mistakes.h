// The ways in which people ask for GPUs that are not ECS's: named, with the right shape, instead of
// dropped in silence.
#pragma once

#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control {

// Errors: ClientException that names the member and shows resourceRequirements as meant.
base::Result<void> refuse_gpu_mistakes(const api::ecs::ContainerDefinition& container);
base::Result<void> refuse_gpu_mistakes(const api::ecs::ContainerOverride& container);

// An environment that means to choose GPUs, or a share of one: Berth's own value of the variable
// would win. A container that asks for GPUs may set NVIDIA_VISIBLE_DEVICES, as on ECS.
// `requirements`: of the container, those that an override leaves in place included.
// Errors: ClientException that names the variable and shows resourceRequirements as meant.
base::Result<void> refuse_gpu_variables(
    const std::string& container, const api::List<api::ecs::KeyValuePair>& environment,
    const api::List<api::ecs::ResourceRequirement>& requirements);

}  // namespace control
