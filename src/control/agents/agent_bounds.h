// The most that an agent may send. What it sends is kept, shown and gone through on the one core
// thread, and an agent is not trusted with that thread: more is refused by name.
#pragma once

#include <cstddef>

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control {

inline constexpr size_t most_instance_attributes = 200;  // Those that people put included.

// Of the whole request. `most_gpus` is Settings::most_gpus_per_instance. Cost: O(request). Errors:
// InvalidParameterException, which names the member and its bound.
base::Result<void> check_bounds(const api::ecs::RegisterContainerInstanceRequest& request,
                                size_t most_gpus);
base::Result<void> check_bounds(const api::ecs::SubmitTaskStateChangeRequest& report,
                                size_t most_gpus);
base::Result<void> check_bounds(const api::ecs::SubmitContainerStateChangeRequest& report);
base::Result<void> check_bounds(const api::ecs::SubmitAttachmentStateChangesRequest& report);

}  // namespace control
