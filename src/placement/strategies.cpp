#include "placement/strategies.h"

#include <algorithm>

namespace placement {
namespace {

int64_t gpu_memory_free(const Offer& offer) {
  int64_t sum = 0;
  for (const Card& card : offer.cards) {
    sum += card.mig_free || card.whole_free ? card.memory_mib : card.memory_free_mib;
  }
  return sum;
}

int64_t left_of(StrategyKind kind, const Offer& offer) {
  switch (kind) {
    case StrategyKind::BinpackCpu:
      return offer.cpu_free;
    case StrategyKind::BinpackMemory:
      return offer.memory_free;
    case StrategyKind::BinpackGpu:
      return offer.whole_gpus_free;
    case StrategyKind::BinpackGpuMemory:
      return gpu_memory_free(offer);
    default:
      return 0;
  }
}

std::vector<int64_t> costs_of(const Strategy& strategy, const Fleet& fleet,
                              const GroupCounts& counts, const Column& column,
                              const std::vector<uint32_t>& candidates) {
  std::vector<int64_t> costs;
  costs.reserve(candidates.size());
  if (strategy.kind == StrategyKind::SpreadInstance) {
    for (const uint32_t index : candidates) costs.push_back(counts[index]);
  } else if (strategy.kind == StrategyKind::SpreadAttribute) {
    std::vector<int64_t> by_value(column.values());
    for (uint32_t i = 0; i < fleet.size(); ++i) by_value[column[i]] += counts[i];
    for (const uint32_t index : candidates) costs.push_back(by_value[column[index]]);
  } else {
    for (const uint32_t index : candidates) {
      costs.push_back(left_of(strategy.kind, fleet[index].offer));
    }
  }
  return costs;
}

}  // namespace

void GroupCounts::sync(const model::ClusterState& state, const Fleet& fleet) {
  const bool first = synced_at_ == 0;
  counts_.resize(fleet.size());
  if (first) {
    const auto group = state.tasks_by_group.find({cluster_, group_});
    if (group != state.tasks_by_group.end()) {
      for (const model::TaskArn& arn : group->second) {
        const model::Task* task = model::find_task(state, arn);
        const uint32_t index = task == nullptr ? Fleet::none : fleet.find(task->instance);
        if (index != Fleet::none) ++counts_[index];
      }
    }
  } else {
    fleet.changed_since(synced_at_, [&](uint32_t index) {
      counts_[index] = 0;
      if (!fleet[index].known) return;
      const model::ContainerInstance* instance = model::find_instance(state, fleet[index].arn);
      if (instance == nullptr) return;
      const auto here = instance->task_groups.find(group_);
      if (here != instance->task_groups.end()) counts_[index] = here->second;
    });
  }
  synced_at_ = fleet.sequence();
}

void Column::sync(const model::ClusterState& state, const Fleet& fleet) {
  values_.resize(fleet.size());
  fleet.changed_since(synced_at_, [&](uint32_t index) {
    const Entry& entry = fleet[index];
    if (entry.facts_changed_at <= synced_at_) return;
    const model::ContainerInstance* instance = model::find_instance(state, entry.arn);
    if (instance == nullptr) return;
    const auto found = instance->attributes.find(attribute_);
    values_[index] = 0;
    if (found == instance->attributes.end()) return;
    values_[index] =
        number_of_.try_emplace(found->second, static_cast<uint32_t>(number_of_.size() + 1))
            .first->second;
  });
  synced_at_ = fleet.sequence();
}

void refine(const Strategy& strategy, const Fleet& fleet, const GroupCounts& counts,
            const Column& column, base::Random& random, std::vector<uint32_t>& candidates) {
  if (strategy.kind == StrategyKind::Random) {
    candidates = {candidates[random.below(candidates.size())]};
    return;
  }
  const std::vector<int64_t> costs = costs_of(strategy, fleet, counts, column, candidates);
  const int64_t least = *std::ranges::min_element(costs);
  size_t kept = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (costs[i] == least) candidates[kept++] = candidates[i];
  }
  candidates.resize(kept);
}

}  // namespace placement
