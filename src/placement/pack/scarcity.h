// Which kinds of instances will be run out of first: a price on using their GPUs for tasks that
// could go elsewhere, so that what only they can run still finds room.
#pragma once

#include <cstddef>
#include <vector>

namespace placement::pack {

// Tasks that may run on the same instances.
struct Flow {
  double weight = 0;          // GPU that they ask for, in any unit.
  std::vector<size_t> where;  // Indices of the classes of instances that could run them; not empty.
};

// free[c] is the idle GPU of class c. Each flow is shared out over its classes such that all fill
// up as evenly as they can; a class's price is how much faster it fills up than the whole, less 1:
// 0 = as fast as the average, above 0 = it will run out first. Between -1 and most_price.
inline constexpr double most_price = 3;
std::vector<double> scarcity(const std::vector<Flow>& flows, const std::vector<double>& free);

}  // namespace placement::pack
