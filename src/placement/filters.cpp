#include "placement/filters.h"

#include <algorithm>

#include "model/task_bounds.h"
#include "placement/query/evaluate.h"
#include "placement/query/parser.h"

namespace placement {

bool holds(const model::ContainerInstance& instance, const query::Expression& expression) {
  std::vector<std::string> groups;
  if (expression.reads_tasks) {
    for (const auto& [group, tasks] : instance.task_groups) groups.push_back(group);
  }
  return query::holds(expression, {.attributes = instance.attributes,
                                   .task_groups = groups,
                                   .agent_connected = model::agent_answers(instance),
                                   .agent_version = instance.agent_version,
                                   .ec2_instance_id = instance.ec2_instance_id,
                                   .registered_at = instance.registered_at,
                                   .running_tasks = instance.running_tasks});
}

bool has_launch_type(const model::ContainerInstance& instance, std::string_view launch_type) {
  return instance.external == (launch_type == "EXTERNAL");
}

bool is_of_provider(const model::ContainerInstance& instance, std::string_view capacity_provider) {
  return capacity_provider == model::berth_queue ? instance.capacity_provider.empty()
                                                 : instance.capacity_provider == capacity_provider;
}

base::Result<uint32_t> Filters::intern(const FilterKey& key) {
  const auto known = number_of_.find(key);
  if (known != number_of_.end()) return known->second;
  Filter filter;
  filter.key = key;
  if (key.kind == FilterKind::Expression) filter.expression = TRY(query::parse(key.text));
  filters_.push_back(std::move(filter));
  const auto number = static_cast<uint32_t>(filters_.size() - 1);
  number_of_.emplace(key, number);
  return number;
}

bool Filters::answer(const model::ContainerInstance& instance, const Filter& filter) {
  switch (filter.key.kind) {
    case FilterKind::Attribute:
      return instance.attributes.contains(filter.key.text);
    case FilterKind::LaunchType:
      return has_launch_type(instance, filter.key.text);
    case FilterKind::CapacityProvider:
      return is_of_provider(instance, filter.key.text);
    case FilterKind::Bounds:
      return model::permits(model::bounds_of(instance.attributes), filter.key.text);
    case FilterKind::Expression:
      return holds(instance, filter.expression);
  }
  return false;
}

void Filters::sync(const model::ClusterState& state, const Fleet& fleet,
                   const std::vector<uint32_t>& filters) {
  for (const uint32_t number : filters) {
    Filter& filter = filters_[number];
    if (filter.synced_at == fleet.sequence()) continue;
    filter.bits.resize((fleet.size() + 63) / 64);
    fleet.changed_since(filter.synced_at, [&](uint32_t index) {
      const Entry& entry = fleet[index];
      if (!entry.known) return;
      if (entry.facts_changed_at <= filter.synced_at && !filter.expression.reads_tasks) return;
      const model::ContainerInstance* instance = model::find_instance(state, entry.arn);
      if (instance == nullptr) return;
      const uint64_t bit = uint64_t{1} << (index % 64);
      uint64_t& word = filter.bits[index / 64];
      word = answer(*instance, filter) ? word | bit : word & ~bit;
    });
    filter.synced_at = fleet.sequence();
  }
}

void Filters::forget_instances() {
  for (Filter& filter : filters_) {
    filter.bits.clear();
    filter.synced_at = 0;
  }
}

uint32_t Filters::rule_of(std::vector<uint32_t> filters) {
  std::ranges::sort(filters);
  const auto repeated = std::ranges::unique(filters);
  filters.erase(repeated.begin(), repeated.end());
  const auto [found, added] =
      rule_numbers_.try_emplace(filters, static_cast<uint32_t>(rules_.size()));
  if (added) rules_.push_back(std::move(filters));
  return found->second;
}

}  // namespace placement
