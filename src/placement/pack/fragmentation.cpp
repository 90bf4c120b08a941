#include "placement/pack/fragmentation.h"

#include <algorithm>
#include <limits>
#include <set>

namespace placement::pack {
namespace {

constexpr int16_t out_of_reach = std::numeric_limits<int16_t>::max();

// The levels that the kinds ask for, or so many of them that they fit, each at least as high as
// those it stands for, and as little above the lowest of them as can be.
std::vector<int16_t> levels_of(const std::set<int16_t>& asked) {
  struct Level {
    int16_t lowest = 0;
    int16_t highest = 0;
  };
  std::vector<Level> merged;
  for (const int16_t milli : asked) merged.push_back({milli, milli});
  while (merged.size() > most_levels) {
    const auto width = [&](size_t i) { return merged[i].highest - merged[i - 1].lowest; };
    size_t narrowest = 1;
    for (size_t i = 1; i < merged.size(); ++i) {
      if (width(i) < width(narrowest)) narrowest = i;
    }
    merged[narrowest].lowest = merged[narrowest - 1].lowest;
    merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(narrowest) - 1);
  }
  std::vector<int16_t> levels;
  for (const Level& level : merged) levels.push_back(level.highest);
  return levels;
}

}  // namespace

Fragmentation::Fragmentation(const Hardware& hardware, const std::vector<Weighted>& eligible) {
  std::set<int16_t> asked;
  std::set<int64_t> cpu;
  const auto counts = [&](const Kind& kind) {
    return kind.wants_gpu() && milli_on(hardware, kind) <= model::whole_gpu_milli &&
           gpus_on(hardware, kind) <= static_cast<int32_t>(most_cards) &&
           (kind.share == Share{} || hardware.shareable);
  };
  for (const Weighted& each : eligible) {
    if (!counts(each.kind)) continue;
    asked.insert(static_cast<int16_t>(milli_on(hardware, each.kind)));
    cpu.insert(each.kind.cpu_units);
  }
  const std::vector<int16_t> levels = levels_of(asked);
  level_.fill(out_of_reach);
  std::ranges::copy(levels, level_.begin());
  levels_ = levels.size();
  padded_levels_ = (levels_ + 7) / 8 * 8;
  most_gpus_ = std::min<size_t>(static_cast<size_t>(std::max(hardware.gpus, 0)), most_cards);
  cpu_steps_.assign(cpu.begin(), cpu.end());
  const size_t row = most_gpus_ + 1;
  weight_.assign(cpu_steps_.size() * levels_ * row, 0);
  for (const Weighted& each : eligible) {
    if (!counts(each.kind)) continue;
    const auto level = static_cast<size_t>(
        std::ranges::lower_bound(levels, static_cast<int16_t>(milli_on(hardware, each.kind))) -
        levels.begin());
    const auto step = static_cast<size_t>(
        std::ranges::lower_bound(cpu_steps_, each.kind.cpu_units) - cpu_steps_.begin());
    const auto gpus = static_cast<size_t>(gpus_on(hardware, each.kind));
    for (size_t s = step; s < cpu_steps_.size(); ++s) {
      for (size_t n = gpus; n <= most_gpus_; ++n) {
        weight_[(s * levels_ + level) * row + n] += each.weight;
      }
    }
  }
}

void Fragmentation::add(Reach& reach, int16_t milli) const {
  for (size_t i = 0; i < padded_levels_; ++i) {
    const auto reached = static_cast<int16_t>(-(milli >= level_[i]));
    reach.sum[i] = static_cast<int16_t>(reach.sum[i] + (milli & reached));
    reach.count[i] = static_cast<int16_t>(reach.count[i] - reached);
  }
}

void Fragmentation::remove(Reach& reach, int16_t milli) const {
  for (size_t i = 0; i < padded_levels_; ++i) {
    const auto reached = static_cast<int16_t>(-(milli >= level_[i]));
    reach.sum[i] = static_cast<int16_t>(reach.sum[i] - (milli & reached));
    reach.count[i] = static_cast<int16_t>(reach.count[i] + reached);
  }
}

double Fragmentation::useful(const Reach& reach, int64_t cpu_free) const {
  size_t step = 0;
  while (step < cpu_steps_.size() && cpu_steps_[step] <= cpu_free) ++step;
  if (step == 0) return 0;
  const size_t row = most_gpus_ + 1;
  const double* weight = weight_.data() + (step - 1) * levels_ * row;
  double sum = 0;
  for (size_t i = 0; i < levels_; ++i, weight += row) {
    sum += reach.sum[i] * weight[reach.count[i]];
  }
  return sum;
}

}  // namespace placement::pack
