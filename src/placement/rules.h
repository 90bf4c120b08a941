// The placement constraints and strategies of a call, read once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/generated/ecs.h"
#include "base/result.h"

namespace placement {

// Source: ECS service quotas, "Placement constraints per task" and "Placement strategies per task".
inline constexpr size_t most_constraints = 10;
inline constexpr size_t most_strategies = 5;

enum class StrategyKind : uint8_t {
  SpreadInstance,   // field "instanceId" or "host".
  SpreadAttribute,  // field "attribute:<name>".
  BinpackCpu,
  BinpackMemory,
  BinpackGpu,        // Berth's own: least whole GPUs free.
  BinpackGpuMemory,  // Berth's own: least VRAM free.
  Random,
};

struct Strategy {
  StrategyKind kind = StrategyKind::Random;
  std::string attribute;  // SpreadAttribute.
  friend bool operator==(const Strategy&, const Strategy&) = default;
};

struct Rules {
  std::vector<std::string> expressions;  // Of memberOf, in order; each compiles.
  bool distinct_instance = false;
  std::vector<Strategy> strategies;
};

// Errors: InvalidParameterException naming the constraint or strategy and what was expected.
base::Result<Rules> rules_of(const api::List<api::ecs::PlacementConstraint>& constraints,
                             const api::List<api::ecs::PlacementStrategy>& strategies);

}  // namespace placement
