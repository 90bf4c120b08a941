#include "placement/pack/share_value.h"

#include <algorithm>
#include <cmath>

namespace placement::pack {
namespace {

constexpr int iterations = 200;
constexpr int32_t coarse_grain = 10;  // What the prices are found with.
constexpr size_t most_sizes = 32;
constexpr double least_price = 1e-6;

// Dual ascent on the prices: maximise demand times price over all prices for which no combination
// is worth more than a GPU. Each step raises the prices of sizes that arrive more often than the
// best combination uses them, and lowers the others.
class Duals {
 public:
  Duals(const std::vector<ShareValue::Size>& sizes, int32_t grain, size_t capacity)
      : capacity_(capacity), value_(capacity + 1), choice_(capacity + 1) {
    double total = 0;
    for (const ShareValue::Size& size : sizes) {
      cells_.push_back(static_cast<size_t>(std::max(size.milli / grain, 1)));
      total += size.weight;
    }
    for (const ShareValue::Size& size : sizes) weights_.push_back(size.weight / total);
    for (const size_t cells : cells_) {
      prices_.push_back(static_cast<double>(cells) / static_cast<double>(capacity));
    }
  }

  // The best prices found.
  std::vector<double> solve() {
    std::vector<double> best = prices_;
    double best_bound = 0;
    for (int i = 0; i < iterations; ++i) {
      fill_values();
      const double whole = value_[capacity_];
      for (double& price : prices_) price /= whole;
      const double bound = worth_of_demand();
      if (bound > best_bound) {
        best_bound = bound;
        best = prices_;
      }
      step(bound, 0.15 / std::sqrt(1.0 + i));
    }
    return best;
  }

  // What free parts are worth at these prices.
  const std::vector<double>& values_at(std::vector<double> prices) {
    prices_ = std::move(prices);
    fill_values();
    return value_;
  }

 private:
  double worth_of_demand() const {
    double sum = 0;
    for (size_t k = 0; k < prices_.size(); ++k) sum += weights_[k] * prices_[k];
    return sum;
  }

  // The unbounded knapsack: what each number of free cells is worth, and the size that makes it so.
  void fill_values() {
    for (size_t free = 1; free <= capacity_; ++free) {
      value_[free] = value_[free - 1];
      choice_[free] = none;
      for (size_t k = 0; k < cells_.size(); ++k) {
        if (cells_[k] > free) continue;
        const double with = value_[free - cells_[k]] + prices_[k];
        if (with > value_[free] + 1e-12) {
          value_[free] = with;
          choice_[free] = k;
        }
      }
    }
  }

  void step(double bound, double rate) {
    std::vector<double> used(prices_.size());
    for (size_t free = capacity_; free > 0;) {
      if (choice_[free] == none) {
        --free;
      } else {
        ++used[choice_[free]];
        free -= cells_[choice_[free]];
      }
    }
    for (size_t k = 0; k < prices_.size(); ++k) {
      const double gradient = weights_[k] / bound - used[k];
      const double change = rate * gradient * prices_[k] / std::max(prices_[k], 1e-3);
      prices_[k] = std::max(prices_[k] * std::exp(change), least_price);
    }
  }

  static constexpr size_t none = static_cast<size_t>(-1);
  size_t capacity_;
  std::vector<size_t> cells_;
  std::vector<double> weights_;
  std::vector<double> prices_;
  std::vector<double> value_;
  std::vector<size_t> choice_;
};

}  // namespace

ShareValue::ShareValue(const std::vector<Size>& sizes) {
  if (sizes.empty()) return;
  std::vector<Size> heaviest = sizes;
  if (heaviest.size() > most_sizes) {
    std::ranges::nth_element(heaviest, heaviest.begin() + most_sizes, std::ranges::greater(),
                             &Size::weight);
    heaviest.resize(most_sizes);
    std::ranges::sort(heaviest, {}, &Size::milli);
  }
  std::vector<double> prices = Duals(heaviest, coarse_grain, 1000 / coarse_grain).solve();
  Duals fine(heaviest, grain, value_.size() - 1);
  std::ranges::copy(fine.values_at(std::move(prices)), value_.begin());
  if (value_.back() <= 0) return;
  for (double& value : value_) value /= value_.back();
}

}  // namespace placement::pack
