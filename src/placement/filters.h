// What a task may require of an instance besides resources: compiled once, and answered for the
// instances of a fleet from bits that are kept up to date.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/state.h"
#include "placement/fleet.h"
#include "placement/query/ast.h"

namespace placement {

enum class FilterKind : uint8_t {
  Attribute,         // The instance has an attribute of that name.
  LaunchType,        // It is an instance of that launch type, "EC2" or "EXTERNAL".
  CapacityProvider,  // It is an instance of that one; of model::berth_queue: of none.
  Bounds,            // Its bounds permit that need.
  Expression,        // memberOf.
};

struct FilterKey {
  FilterKind kind = FilterKind::Attribute;
  std::string text;
  friend auto operator<=>(const FilterKey&, const FilterKey&) = default;
};

// Whether the expression holds; the record is read, not the caches.
bool holds(const model::ContainerInstance& instance, const query::Expression& expression);
bool has_launch_type(const model::ContainerInstance& instance, std::string_view launch_type);
bool is_of_provider(const model::ContainerInstance& instance, std::string_view capacity_provider);

class Filters {
 public:
  // The filter's number, made on first use. Errors: InvalidParameterException when it does not
  // compile.
  base::Result<uint32_t> intern(const FilterKey& key);
  size_t size() const { return filters_.size(); }
  const FilterKey& key(uint32_t filter) const { return filters_[filter].key; }
  // Its answer can change when tasks come and go.
  bool reads_tasks(uint32_t filter) const { return filters_[filter].expression.reads_tasks; }

  // Brings the bits of these filters up to date.
  void sync(const model::ClusterState& state, const Fleet& fleet,
            const std::vector<uint32_t>& filters);
  // As of the last sync(). Entries that are not known pass or fail at random.
  bool passes(uint32_t filter, size_t entry) const {
    return (filters_[filter].bits[entry / 64] >> (entry % 64) & 1) != 0;
  }

  // The answers, not the filters.
  void forget_instances();

  // A set of filters as one number, 0 for the empty set: the same set, the same number.
  uint32_t rule_of(std::vector<uint32_t> filters);
  const std::vector<uint32_t>& filters_of(uint32_t rule) const { return rules_[rule]; }

 private:
  struct Filter {
    FilterKey key;
    query::Expression expression;
    std::vector<uint64_t> bits;
    uint64_t synced_at = 0;
  };
  static bool answer(const model::ContainerInstance& instance, const Filter& filter);

  std::vector<Filter> filters_;
  std::map<FilterKey, uint32_t> number_of_;
  std::vector<std::vector<uint32_t>> rules_ = {{}};
  std::map<std::vector<uint32_t>, uint32_t> rule_numbers_ = {{{}, 0}};
};

}  // namespace placement
