#include "placement/scale_in.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "placement/rules.h"

namespace placement {
namespace {

constexpr std::string_view zone_attribute = "ecs.availability-zone";

// What an instance has free, with the picked tasks gone.
struct Left {
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  int64_t gpus = 0;
  int64_t gpu_memory_mib = 0;
};

Left left_on(const model::ContainerInstance& instance) {
  Left left{.cpu_units = model::cpu_units_free(instance),
            .memory_mib = model::memory_mib_free(instance)};
  for (const model::GpuSlot& gpu : instance.gpus) {
    left.gpus += gpu.holders.empty() && gpu.state == model::GpuState::Idle;
    left.gpu_memory_mib += model::gpu_memory_mib_free(gpu);
  }
  return left;
}

// What the end of the task gives back.
Left given_back(const model::Task& task, const model::ContainerInstance* instance) {
  Left back{.cpu_units = task.held.cpu_units, .memory_mib = task.held.memory_mib};
  for (const model::GpuAssignment& held : task.held.gpus) {
    const model::GpuSlot* const gpu =
        instance == nullptr ? nullptr : model::find_gpu(*instance, held.gpu);
    back.gpus += !held.shared;
    back.gpu_memory_mib += held.shared || gpu == nullptr ? held.memory_mib : gpu->device.memory_mib;
  }
  return back;
}

int64_t amount(StrategyKind kind, const Left& left) {
  switch (kind) {
    case StrategyKind::BinpackCpu:
      return left.cpu_units;
    case StrategyKind::BinpackMemory:
      return left.memory_mib;
    case StrategyKind::BinpackGpu:
      return left.gpus;
    default:
      return left.gpu_memory_mib;
  }
}

// All is looked up once; a pick then only reads numbers.
class Picker {
 public:
  Picker(const model::ClusterState& state, const ScaleIn& service,
         const std::vector<Strategy>& strategies)
      : state_(state), strategies_(strategies) {
    for (const model::TaskArn& arn : service.candidates) take_in(arn, true);
    for (const model::TaskArn& arn : service.staying) take_in(arn, false);
    for (const Strategy& strategy : strategies_) spreads_.push_back(spread_of(strategy));
  }

  std::vector<model::TaskArn> pick(size_t count, base::Random& random) {
    std::vector<model::TaskArn> picked;
    std::vector<uint32_t> rest;
    while (picked.size() < count && !candidates_.empty()) {
      rest = candidates_;
      for (size_t i = 0; i < strategies_.size(); ++i) refine(i, random, rest);
      const uint32_t one = rest[random.below(rest.size())];
      picked.push_back(tasks_[one].task->arn);
      remove(one);
    }
    return picked;
  }

 private:
  struct Place {
    const model::ContainerInstance* instance = nullptr;  // Null: the state does not know it.
    Left left;
  };
  struct Entry {
    const model::Task* task = nullptr;
    uint32_t place = 0;
    Left back;
  };
  // Where a spread counts each place, and how many tasks there are of each such value.
  struct Spread {
    std::vector<uint32_t> value_of_place;
    std::vector<int64_t> counts;
  };

  void take_in(const model::TaskArn& arn, bool candidate) {
    const model::Task* const task = model::find_task(state_, arn);
    if (task == nullptr) return;
    const auto [known, is_new] =
        numbers_.try_emplace(task->instance, static_cast<uint32_t>(places_.size()));
    if (is_new) {
      const model::ContainerInstance* const instance = model::find_instance(state_, task->instance);
      places_.push_back({instance, instance == nullptr ? Left{} : left_on(*instance)});
    }
    const uint32_t place = known->second;
    if (candidate) candidates_.push_back(static_cast<uint32_t>(tasks_.size()));
    tasks_.push_back({task, place, given_back(*task, places_[place].instance)});
  }

  // The value of the attribute, and whether there is one.
  static std::pair<bool, std::string> value_of(const Place& place, const std::string& attribute) {
    if (place.instance == nullptr) return {false, ""};
    const auto found = place.instance->attributes.find(attribute);
    if (found == place.instance->attributes.end()) return {false, ""};
    return {true, found->second};
  }

  Spread spread_of(const Strategy& strategy) const {
    Spread spread;
    std::map<std::pair<bool, std::string>, uint32_t> values;
    for (uint32_t i = 0; i < places_.size(); ++i) {
      uint32_t value = i;
      if (strategy.kind == StrategyKind::SpreadAttribute) {
        value = values
                    .try_emplace(value_of(places_[i], strategy.attribute),
                                 static_cast<uint32_t>(values.size()))
                    .first->second;
      }
      spread.value_of_place.push_back(value);
    }
    spread.counts.resize(places_.size());
    for (const Entry& entry : tasks_) ++spread.counts[spread.value_of_place[entry.place]];
    return spread;
  }

  void remove(uint32_t one) {
    const Entry& entry = tasks_[one];
    for (Spread& spread : spreads_) --spread.counts[spread.value_of_place[entry.place]];
    Left& left = places_[entry.place].left;
    left.cpu_units += entry.back.cpu_units;
    left.memory_mib += entry.back.memory_mib;
    left.gpus += entry.back.gpus;
    left.gpu_memory_mib += entry.back.gpu_memory_mib;
    std::erase(candidates_, one);
  }

  // The higher, the sooner it goes.
  int64_t rank(size_t strategy, uint32_t one) const {
    const Entry& entry = tasks_[one];
    const StrategyKind kind = strategies_[strategy].kind;
    if (kind == StrategyKind::SpreadInstance || kind == StrategyKind::SpreadAttribute) {
      const Spread& spread = spreads_[strategy];
      return spread.counts[spread.value_of_place[entry.place]];
    }
    return amount(kind, places_[entry.place].left) + amount(kind, entry.back);
  }

  void refine(size_t strategy, base::Random& random, std::vector<uint32_t>& rest) const {
    if (strategies_[strategy].kind == StrategyKind::Random) {
      rest = {rest[random.below(rest.size())]};
      return;
    }
    int64_t highest = std::numeric_limits<int64_t>::min();
    size_t kept = 0;
    for (const uint32_t one : rest) {
      const int64_t of_one = rank(strategy, one);
      if (of_one > highest) kept = 0;
      highest = std::max(highest, of_one);
      if (of_one == highest) rest[kept++] = one;
    }
    rest.resize(kept);
  }

  const model::ClusterState& state_;
  const std::vector<Strategy>& strategies_;
  std::map<model::InstanceArn, uint32_t> numbers_;
  std::vector<Place> places_;
  std::vector<Entry> tasks_;  // The staying ones included.
  std::vector<uint32_t> candidates_;
  std::vector<Spread> spreads_;  // One a strategy; looked at for spreads only.
};

}  // namespace

base::Result<std::vector<model::TaskArn>> pick_scale_in(const model::ClusterState& state,
                                                        const ScaleIn& service, size_t count,
                                                        base::Random& random) {
  std::vector<Strategy> strategies = TRY(rules_of({}, service.strategies)).strategies;
  if (strategies.empty()) {
    strategies = {{StrategyKind::SpreadAttribute, std::string(zone_attribute)},
                  {StrategyKind::SpreadInstance, ""}};
  }
  return Picker(state, service, strategies).pick(count, random);
}

}  // namespace placement
