// What the instance that a task is on means for the task.
// Source: ECS Developer Guide, "Draining Amazon ECS container instances": PENDING service tasks are
// stopped at once, RUNNING ones replaced within the service's minimum and maximum.
#pragma once

#include <cstdint>

#include "reconcile/reconcile.h"

namespace reconcile {

enum class Footing : uint8_t {
  Firm,
  Draining,  // Its tasks are to move elsewhere.
  Lost,      // Its agent has been away for too long: what runs there does not count.
};

// `wake` becomes earlier where the instance may yet be lost.
Footing footing_of(const Input& input, const model::ContainerInstance& instance, base::Time& wake);

}  // namespace reconcile
