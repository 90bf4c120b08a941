// What happens to GPUs, taken into the inventory that is told of them.
#pragma once

#include <span>

#include "gpu/devices.h"

namespace gpu {

// What happened to a whole GPU happened to its MIG instances. An error from which a GPU recovers by
// itself (a usable one with an Xid) makes a failed GPU no better. True: some GPU's health or its
// reason is another than before. Pure.
bool apply_health(std::span<const HealthEvent> events, Inventory& inventory);

}  // namespace gpu
