#include "reconcile/rebalancing.h"

#include <algorithm>
#include <map>
#include <set>

namespace reconcile {
namespace {

std::string_view zone_of(const model::ContainerInstance& instance) {
  const auto zone = instance.attributes.find(std::string(zone_attribute));
  return zone == instance.attributes.end() ? std::string_view() : std::string_view(zone->second);
}

}  // namespace

bool can_rebalance(const model::Service& service) {
  if (service.scheduling != api::ecs::SchedulingStrategy::Replica ||
      service.controller != api::ecs::DeploymentControllerType::Ecs ||
      service.deployment_configuration.maximum_percent.value_or(200) <= 100) {
    return false;
  }
  if (service.placement_strategy.empty()) return true;
  const api::ecs::PlacementStrategy& first = service.placement_strategy.front();
  return first.type == api::ecs::PlacementStrategyType::Spread &&
         first.field == "attribute:" + std::string(zone_attribute);
}

std::vector<std::string> zones_of(const model::ClusterState& state,
                                  const model::ClusterName& cluster) {
  std::set<std::string, std::less<>> zones;
  for (const auto& [arn, instance] : state.instances) {
    if (instance.cluster != cluster || !instance.agent_connected ||
        instance.status != model::InstanceStatus::Active) {
      continue;
    }
    const std::string_view zone = zone_of(instance);
    if (!zone.empty() && !zones.contains(zone)) zones.emplace(zone);
  }
  return {zones.begin(), zones.end()};
}

std::optional<std::string> zone_to_fill(const Input& input, const Pool& pool) {
  std::map<std::string, int32_t, std::less<>> tasks;
  for (const std::string& zone : input.zones) tasks.emplace(zone, 0);
  if (tasks.size() < 2) return std::nullopt;
  for (const Member& member : pool.current) {
    const auto* const instance = model::find_instance(input.state, member.task->instance);
    if (instance == nullptr) continue;
    const auto found = tasks.find(zone_of(*instance));
    if (found != tasks.end()) ++found->second;
  }
  const auto by_count = [](const auto& left, const auto& right) {
    return left.second < right.second;
  };
  const auto [emptiest, fullest] = std::ranges::minmax_element(tasks, by_count);
  if (fullest->second - emptiest->second < 2) return std::nullopt;
  return emptiest->first;
}

}  // namespace reconcile
