// A container's resourceRequirements of type GPU, in every spelling that Berth takes.
#pragma once

#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "model/resources.h"

namespace control {

// What the container asks; nullopt when it asks for no GPU. Takes a count ("2"), "ALL", a fraction
// ("0.5"), a VRAM size ("20GiB"), a MIG profile ("1g.10gb") or sharingStrategy.nvidiaMps.
// Errors: ClientException showing the right shape.
// Source: ECS API reference, "ResourceRequirement".
base::Result<std::optional<model::GpuRequest>> gpu_request(
    const std::string& container, const api::List<api::ecs::ResourceRequirement>& requirements);

// All GPU containers of a task share GPUs or none does.
// Errors: ClientException.
base::Result<void> check_gpu_requests(const std::vector<model::GpuRequest>& requests);

}  // namespace control
