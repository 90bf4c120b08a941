#include "reconcile/draining.h"

#include <algorithm>

namespace reconcile {

Footing footing_of(const Input& input, const model::ContainerInstance& instance, base::Time& wake) {
  if (instance.status == model::InstanceStatus::Inactive) return Footing::Lost;
  if (!instance.agent_connected) {
    const base::Time lost_at = instance.connected_changed_at + input.options.lost_after;
    if (lost_at <= input.now) return Footing::Lost;
    wake = std::min(wake, lost_at);
  }
  return instance.status == model::InstanceStatus::Draining ? Footing::Draining : Footing::Firm;
}

}  // namespace reconcile
