// What a task asks of its machine that its operator may not allow: see model/task_bounds.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/generated/ecs.h"

namespace control {

// Sorted, each once.
std::vector<std::string> needs_of_task(const api::ecs::TaskDefinition& definition,
                                       const std::optional<api::ecs::TaskOverride>& overrides);

}  // namespace control
