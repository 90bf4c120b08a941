#include "control/capacity/strategy.h"

#include <algorithm>

#include "base/result.h"

namespace control {
namespace {

int64_t count_of(const ProviderCounts& counts, const api::ecs::CapacityProviderStrategyItem& item) {
  const auto found = counts.find(item.capacity_provider.value_or(""));
  return found == counts.end() ? 0 : found->second;
}

// Tasks beyond the base.
int64_t weighed_count(const ProviderCounts& counts,
                      const api::ecs::CapacityProviderStrategyItem& item) {
  return std::max<int64_t>(count_of(counts, item) - item.base.value_or(0), 0);
}

}  // namespace

// Each provider's k-th task (from 0) belongs in the turns from floor(k W / w) to before
// ceil((k + 1) W / w), w its weight, W the sum of all. Taking the one whose time runs out first of
// those whose time has come meets all of these, since one task a turn is just enough for them
// (the scheduling of fractions by earliest deadline); so no share is ever off by a whole task.
std::string next_provider(const Strategy& strategy, const ProviderCounts& counts) {
  CHECK(!strategy.empty());
  if (strategy.size() == 1) return strategy.front().capacity_provider.value_or("");
  int64_t turn = 0;
  int64_t weights = 0;
  for (const auto& item : strategy) {
    if (count_of(counts, item) < item.base.value_or(0)) return *item.capacity_provider;
    if (item.weight.value_or(0) == 0) continue;
    turn += weighed_count(counts, item);
    weights += *item.weight;
  }
  CHECK(weights > 0);
  const api::ecs::CapacityProviderStrategyItem* chosen = nullptr;
  int64_t chosen_deadline = 0;
  for (const auto& item : strategy) {
    const int64_t weight = item.weight.value_or(0);
    if (weight == 0) continue;
    const int64_t count = weighed_count(counts, item);
    if (count * weights / weight > turn) continue;
    const int64_t deadline = ((count + 1) * weights + weight - 1) / weight;
    if (chosen == nullptr || deadline < chosen_deadline) {
      chosen = &item;
      chosen_deadline = deadline;
    }
  }
  CHECK(chosen != nullptr);  // One of them has at most its share.
  return *chosen->capacity_provider;
}

}  // namespace control
