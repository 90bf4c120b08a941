#include "placement/topology.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace placement {
namespace {

constexpr int64_t lane_weight = int64_t{1} << 32;
constexpr int64_t switch_weight = int64_t{1} << 16;
constexpr int64_t numa_weight = 1;
constexpr uint64_t most_choices = 20000;

int64_t weight_of(const model::GpuDevice& left, const model::GpuDevice& right) {
  int64_t weight = 0;
  const auto link = std::ranges::lower_bound(left.nvlinks, right.uuid, {}, &model::NvLink::peer);
  if (link != left.nvlinks.end() && link->peer == right.uuid) weight += link->lanes * lane_weight;
  if (!left.pcie_switch.empty() && left.pcie_switch == right.pcie_switch) weight += switch_weight;
  if (left.numa_node >= 0 && left.numa_node == right.numa_node) weight += numa_weight;
  return weight;
}

uint64_t choices(size_t from, size_t count) {
  uint64_t result = 1;
  for (size_t i = 1; i <= std::min(count, from - count); ++i) {
    result = result * (from - i + 1) / i;
    if (result > most_choices) return result;
  }
  return result;
}

// Tries the choices in lexicographic order of indices, so that the first of equals is the lowest.
class Search {
 public:
  Search(const Connectivity& connectivity, std::span<const size_t> free, size_t count)
      : connectivity_(connectivity), free_(free), count_(count), loss_of_(free.size()) {
    for (size_t i = 0; i < free.size(); ++i) {
      for (const size_t other : free) loss_of_[i] += connectivity.between(free[i], other);
    }
  }

  std::vector<size_t> all() {
    extend(0, 0, 0);
    return best_;
  }

  // Grows a set from each GPU by the one that adds most.
  std::vector<size_t> greedy() {
    for (size_t start = 0; start < free_.size(); ++start) {
      chosen_ = {start};
      int64_t inner = 0;
      while (chosen_.size() < count_) inner += add_best();
      std::ranges::sort(chosen_);
      int64_t loss = 0;
      for (const size_t i : chosen_) loss += loss_of_[i];
      consider(inner, loss);
    }
    return best_;
  }

 private:
  int64_t gain_of(size_t candidate) const {
    int64_t gain = 0;
    for (const size_t i : chosen_) gain += connectivity_.between(free_[i], free_[candidate]);
    return gain;
  }

  int64_t add_best() {
    size_t best = free_.size();
    int64_t best_gain = -1;
    for (size_t i = 0; i < free_.size(); ++i) {
      if (std::ranges::find(chosen_, i) != chosen_.end()) continue;
      const int64_t gain = gain_of(i);
      if (gain > best_gain || (gain == best_gain && loss_of_[i] < loss_of_[best])) {
        best = i;
        best_gain = gain;
      }
    }
    chosen_.push_back(best);
    return best_gain;
  }

  void extend(size_t from, int64_t inner, int64_t loss) {
    if (chosen_.size() == count_) return consider(inner, loss);
    const size_t missing = count_ - chosen_.size();
    for (size_t i = from; i + missing <= free_.size(); ++i) {
      const int64_t gain = gain_of(i);
      chosen_.push_back(i);
      extend(i + 1, inner + gain, loss + loss_of_[i]);
      chosen_.pop_back();
    }
  }

  // The rest keeps all connections but the `loss` of those chosen; the connections among these
  // (`inner`) are counted twice in it, but equal for all that get so far.
  void consider(int64_t inner, int64_t loss) {
    if (!best_.empty() && std::tuple(-inner, loss) >= std::tuple(-best_inner_, best_loss_)) return;
    best_inner_ = inner;
    best_loss_ = loss;
    best_.clear();
    for (const size_t i : chosen_) best_.push_back(free_[i]);
  }

  const Connectivity& connectivity_;
  std::span<const size_t> free_;
  size_t count_;
  std::vector<int64_t> loss_of_;  // Of each free GPU: its connections to all other free ones.
  std::vector<size_t> chosen_;    // Positions in free_.
  std::vector<size_t> best_;
  int64_t best_inner_ = 0;
  int64_t best_loss_ = 0;
};

}  // namespace

Connectivity::Connectivity(const std::vector<model::GpuSlot>& gpus)
    : size_(gpus.size()), weights_(gpus.size() * gpus.size()) {
  for (size_t i = 0; i < size_; ++i) {
    for (size_t j = i + 1; j < size_; ++j) {
      const int64_t weight = weight_of(gpus[i].device, gpus[j].device);
      weights_[i * size_ + j] = weights_[j * size_ + i] = weight;
      uniform_ &= weight == weights_[1];
    }
  }
}

std::vector<size_t> best_connected(const Connectivity& connectivity, std::span<const size_t> free,
                                   size_t count) {
  if (count == 0) return {};
  if (connectivity.uniform() || count == free.size()) {
    return {free.begin(), free.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  Search search(connectivity, free, count);
  return choices(free.size(), count) <= most_choices ? search.all() : search.greedy();
}

}  // namespace placement
