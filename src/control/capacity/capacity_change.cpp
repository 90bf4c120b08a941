#include "control/capacity/capacity_change.h"

#include <variant>

namespace control {

bool gives_capacity(const model::Change& change) {
  return std::holds_alternative<model::InstanceRegistered>(change) ||
         std::holds_alternative<model::InstanceStatusChanged>(change) ||
         std::holds_alternative<model::InstanceDeregistered>(change) ||
         std::holds_alternative<model::AgentConnectionChanged>(change) ||
         std::holds_alternative<model::AttributesPut>(change) ||
         std::holds_alternative<model::AttributesDeleted>(change) ||
         std::holds_alternative<model::GpuCleared>(change) ||
         std::holds_alternative<model::GpuProven>(change);
}

}  // namespace control
