// Placement strategies: best effort, in order, each refining what the last left.
// Source: ECS Developer Guide, "Use strategies to define Amazon ECS task placement".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "model/state.h"
#include "placement/fleet.h"
#include "placement/rules.h"

namespace placement {

// How many tasks of one group are on each entry of a fleet.
class GroupCounts {
 public:
  GroupCounts(model::ClusterName cluster, std::string group)
      : cluster_(std::move(cluster)), group_(std::move(group)) {}

  void sync(const model::ClusterState& state, const Fleet& fleet);
  int32_t operator[](size_t entry) const { return counts_[entry]; }

 private:
  model::ClusterName cluster_;
  std::string group_;
  std::vector<int32_t> counts_;
  uint64_t synced_at_ = 0;
};

// The value of one attribute on each entry, as a number; 0 where the entry has none.
class Column {
 public:
  explicit Column(std::string attribute) : attribute_(std::move(attribute)) {}

  void sync(const model::ClusterState& state, const Fleet& fleet);
  uint32_t operator[](size_t entry) const { return values_[entry]; }
  size_t values() const { return number_of_.size() + 1; }

 private:
  std::string attribute_;
  std::vector<uint32_t> values_;
  std::map<std::string, uint32_t> number_of_;
  uint64_t synced_at_ = 0;
};

// Keeps the candidates that the strategy likes best, in their order. `counts` and `column` are
// synced; column is of the strategy's attribute, and only looked at for that kind.
// spread: the fewest tasks of the group, on the instance or on all instances of the same value;
// instances without the attribute count as of one more value. binpack: the least left of the
// resource. random: one.
void refine(const Strategy& strategy, const Fleet& fleet, const GroupCounts& counts,
            const Column& column, base::Random& random, std::vector<uint32_t>& candidates);

}  // namespace placement
