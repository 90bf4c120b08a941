#include "placement/pack/mix.h"

#include <algorithm>
#include <cmath>

namespace placement::pack {
namespace {

constexpr size_t most_kinds = 4096;
constexpr double largest_unit = 1e100;

std::vector<Weighted> normalised(const std::map<Kind, double>& weights, double total) {
  std::vector<Weighted> list;
  list.reserve(weights.size());
  for (const auto& [kind, weight] : weights) list.push_back({kind, weight / total});
  return list;
}

}  // namespace

Kind kind_of(const Demand& demand, uint32_t rule) {
  Kind kind{.cpu_units = demand.cpu_units,
            .memory_mib = demand.memory_mib,
            .whole_gpus = demand.whole_gpus,
            .all_gpus = demand.all_gpus,
            .rule = rule};
  for (const Share& share : demand.shares) {
    kind.share.memory_mib += share.memory_mib;
    kind.share.milli += share.milli;
  }
  return kind;
}

Mix::Mix(double half_life) : growth_(half_life > 0 ? std::exp2(1 / half_life) : 1) {}

void Mix::observe(const Kind& kind) {
  ++arrivals_;
  unit_ *= growth_;
  if (unit_ > largest_unit) {
    for (auto& [each, weight] : weights_) weight /= unit_;
    total_ /= unit_;
    unit_ = 1;
  }
  weights_[kind] += unit_;
  total_ += unit_;
  if (weights_.size() > most_kinds) forget_rare();
}

void Mix::forget_rare() {
  std::vector<double> sorted;
  sorted.reserve(weights_.size());
  for (const auto& [kind, weight] : weights_) sorted.push_back(weight);
  std::ranges::nth_element(sorted, sorted.begin() + most_kinds / 2);
  const double least = sorted[most_kinds / 2];
  std::erase_if(weights_, [&](const auto& entry) { return entry.second <= least; });
  total_ = 0;
  for (const auto& [kind, weight] : weights_) total_ += weight;
}

std::vector<Weighted> Mix::all() const {
  return normalised(weights_, total_);
}

std::vector<Weighted> Mix::typical(double coverage, Tasks tasks) const {
  std::map<Kind, double> merged;
  double total = 0;
  for (const auto& [kind, weight] : weights_) {
    if (tasks == Tasks::WithGpus && !kind.wants_gpu()) continue;
    Kind without_memory = kind;
    without_memory.memory_mib = 0;
    merged[without_memory] += weight;
    total += weight;
  }
  std::vector<Weighted> list = normalised(merged, total);
  std::ranges::sort(list, [](const Weighted& left, const Weighted& right) {
    return left.weight != right.weight ? left.weight > right.weight : left.kind > right.kind;
  });
  double covered = 0;
  size_t kept = 0;
  while (kept < list.size() && covered < coverage) covered += list[kept++].weight;
  list.resize(kept);
  for (Weighted& each : list) each.weight /= covered;
  return list;
}

double distance(const std::vector<Weighted>& left, const std::vector<Weighted>& right) {
  std::map<Kind, double> difference;
  for (const Weighted& each : left) difference[each.kind] += each.weight;
  for (const Weighted& each : right) difference[each.kind] -= each.weight;
  double sum = 0;
  for (const auto& [kind, weight] : difference) sum += std::abs(weight);
  return sum / 2;
}

}  // namespace placement::pack
