#include "gpu/health.h"

#include <string>

namespace gpu {

bool apply_health(std::span<const HealthEvent> events, Inventory& inventory) {
  bool changed = false;
  for (const HealthEvent& event : events) {
    if (event.usable && event.xid != 0) continue;
    const std::string reason = event.usable ? std::string() : event.reason;
    for (model::GpuDevice& gpu : inventory.gpus) {
      const bool meant =
          event.uuid.empty() || gpu.uuid == event.uuid || gpu.mig_parent == event.uuid;
      if (!meant || (gpu.healthy == event.usable && gpu.health_reason == reason)) continue;
      gpu.healthy = event.usable;
      gpu.health_reason = reason;
      changed = true;
    }
  }
  return changed;
}

}  // namespace gpu
