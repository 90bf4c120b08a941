#include "control/capacity/strategy_rules.h"

#include <algorithm>

#include "base/format.h"
#include "control/capacity/providers.h"
#include "control/request/errors.h"

namespace control {
namespace {

using Item = api::ecs::CapacityProviderStrategyItem;

constexpr size_t most_items = 20;
constexpr int32_t most_weight = 1'000;
constexpr int32_t most_base = 100'000;

base::Result<Item> check_item(const Step& step, const Item& given,
                              const std::vector<std::string>& associated) {
  Item made;
  const std::string name = provider_name(step, given.capacity_provider.value_or(""));
  if (name.empty()) {
    return invalid_parameter(
        "Each item of a capacityProviderStrategy must name a capacityProvider.");
  }
  if (is_fargate(name)) return base::fail(fargate_not_offered(name));
  if (name != model::berth_queue && std::ranges::find(associated, name) == associated.end()) {
    return invalid_parameter(base::format(
        "The specified capacity provider {} is not associated with the cluster. Associate it with "
        "PutClusterCapacityProviders, or name one that is.",
        name));
  }
  made.capacity_provider = name;
  made.weight = given.weight.value_or(0);
  made.base = given.base.value_or(0);
  if (*made.weight < 0 || *made.weight > most_weight) {
    return invalid_parameter(base::format("The weight of {} is {}; it must be between 0 and {}.",
                                          name, *made.weight, most_weight));
  }
  if (*made.base < 0 || *made.base > most_base) {
    return invalid_parameter(base::format("The base of {} is {}; it must be between 0 and {}.",
                                          name, *made.base, most_base));
  }
  return made;
}

base::Result<void> check_together(const Strategy& strategy) {
  size_t bases = 0;
  bool weighed = false;
  for (auto it = strategy.begin(); it != strategy.end(); ++it) {
    if (std::any_of(strategy.begin(), it, [&](const Item& before) {
          return before.capacity_provider == it->capacity_provider;
        })) {
      return invalid_parameter(base::format(
          "The capacity provider {} is in the strategy more than once.", *it->capacity_provider));
    }
    bases += *it->base > 0 ? 1 : 0;
    weighed = weighed || *it->weight > 0;
  }
  if (bases > 1) {
    return invalid_parameter("Only one capacity provider of a strategy can have a base.");
  }
  if (strategy.size() > 1 && !weighed) {
    return invalid_parameter(
        "A strategy of several capacity providers must give one of them a weight above 0.");
  }
  return {};
}

}  // namespace

base::Result<Strategy> check_strategy(const Step& step, const Strategy& given,
                                      const std::vector<std::string>& associated) {
  if (given.size() > most_items) {
    return invalid_parameter(
        base::format("A capacity provider strategy has at most {} items.", most_items));
  }
  Strategy made;
  for (const Item& item : given) made.push_back(TRY(check_item(step, item, associated)));
  TRY_VOID(check_together(made));
  return made;
}

base::Result<Strategy> strategy_for(const Step& step, const model::Cluster& cluster,
                                    const Strategy& given, bool has_launch_type) {
  if (given.empty()) {
    return has_launch_type ? Strategy() : cluster.default_capacity_provider_strategy;
  }
  if (has_launch_type) {
    return invalid_parameter(
        "Specifying both a launch type and capacity provider strategy is not supported. Remove one "
        "and try again.");
  }
  return check_strategy(step, given, cluster.capacity_providers);
}

base::Result<std::vector<std::string>> check_cluster_providers(
    const Step& step, const api::List<std::string>& given) {
  std::vector<std::string> names;
  for (const std::string& text : given) {
    std::string name = provider_name(step, text);
    if (is_fargate(name)) return base::fail(fargate_not_offered(name));
    if (name != model::berth_queue && !step.state().capacity_providers.contains(name)) {
      return invalid_parameter(base::format(
          "The specified capacity provider was not found: {}. Specify a valid name or ARN.", text));
    }
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.size() > most_cluster_providers) {
    return invalid_parameter(
        base::format("A cluster has at most {} capacity providers.", most_cluster_providers));
  }
  return names;
}

bool names_provider(const Strategy& strategy, std::string_view provider) {
  return std::ranges::any_of(strategy,
                             [&](const Item& item) { return item.capacity_provider == provider; });
}

}  // namespace control
