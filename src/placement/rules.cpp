#include "placement/rules.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "placement/query/parser.h"

namespace placement {
namespace {

std::unexpected<base::Error> invalid(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

base::Result<void> add_constraint(const api::ecs::PlacementConstraint& constraint, Rules& rules) {
  const std::string expression = constraint.expression.value_or("");
  if (!constraint.type) {
    return invalid("A placement constraint needs a type, distinctInstance or memberOf.");
  }
  if (*constraint.type == api::ecs::PlacementConstraintType::DistinctInstance) {
    if (!expression.empty()) {
      return invalid("A distinctInstance placement constraint takes no expression.");
    }
    rules.distinct_instance = true;
    return {};
  }
  if (expression.empty()) return invalid("A memberOf placement constraint needs an expression.");
  (void)TRY(query::parse(expression));
  rules.expressions.push_back(expression);
  return {};
}

base::Result<Strategy> spread_of(const std::string& field) {
  const std::string lower = base::lower(field);
  if (lower == "instanceid" || lower == "host") return Strategy{StrategyKind::SpreadInstance, ""};
  constexpr std::string_view prefix = "attribute:";
  if (lower.starts_with(prefix) && field.size() > prefix.size()) {
    return Strategy{StrategyKind::SpreadAttribute, field.substr(prefix.size())};
  }
  return invalid(base::format(
      "The field of a spread placement strategy is instanceId, host or attribute:<name>, not '{}'.",
      field));
}

base::Result<Strategy> binpack_of(const std::string& field) {
  const std::string lower = base::lower(field);
  if (lower == "cpu") return Strategy{StrategyKind::BinpackCpu, ""};
  if (lower == "memory") return Strategy{StrategyKind::BinpackMemory, ""};
  if (lower == "gpu") return Strategy{StrategyKind::BinpackGpu, ""};
  if (lower == "gpumemory") return Strategy{StrategyKind::BinpackGpuMemory, ""};
  return invalid(base::format(
      "The field of a binpack placement strategy is cpu, memory, gpu or gpuMemory, not '{}'.",
      field));
}

base::Result<Strategy> strategy_of(const api::ecs::PlacementStrategy& strategy) {
  const std::string field = strategy.field.value_or("");
  if (!strategy.type) {
    return invalid("A placement strategy needs a type: random, spread or binpack.");
  }
  switch (*strategy.type) {
    case api::ecs::PlacementStrategyType::Random:
      return Strategy{StrategyKind::Random, ""};
    case api::ecs::PlacementStrategyType::Spread:
      return spread_of(field);
    case api::ecs::PlacementStrategyType::Binpack:
      return binpack_of(field);
  }
  return invalid("The type of a placement strategy is random, spread or binpack.");
}

}  // namespace

base::Result<Rules> rules_of(const api::List<api::ecs::PlacementConstraint>& constraints,
                             const api::List<api::ecs::PlacementStrategy>& strategies) {
  if (constraints.size() > most_constraints) {
    return invalid(base::format(
        "A task has at most {} placement constraints, those of its definition included; here are "
        "{}.",
        most_constraints, constraints.size()));
  }
  if (strategies.size() > most_strategies) {
    return invalid(base::format("A task has at most {} placement strategies; here are {}.",
                                most_strategies, strategies.size()));
  }
  Rules rules;
  for (const api::ecs::PlacementConstraint& constraint : constraints) {
    TRY_VOID(add_constraint(constraint, rules));
  }
  for (const api::ecs::PlacementStrategy& strategy : strategies) {
    rules.strategies.push_back(TRY(strategy_of(strategy)));
  }
  return rules;
}

}  // namespace placement
