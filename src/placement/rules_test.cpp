#include "placement/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "placement/testing.h"

namespace placement::test {
namespace {

using api::ecs::PlacementStrategyType;
using ::testing::HasSubstr;

std::string constraint_error(const api::ecs::PlacementConstraint& constraint) {
  const auto rules = rules_of({constraint}, {});
  EXPECT_FALSE(rules.has_value());
  return rules ? "" : rules.error().code + ": " + rules.error().message;
}

std::string strategy_error(const api::ecs::PlacementStrategy& strategy) {
  const auto rules = rules_of({}, {strategy});
  EXPECT_FALSE(rules.has_value());
  return rules ? "" : rules.error().code + ": " + rules.error().message;
}

TEST(Rules, a_constraint_is_distinct_instance_alone_or_member_of_with_an_expression) {
  EXPECT_TRUE(rules_of({distinct_instance()}, {})->distinct_instance);
  EXPECT_EQ(rules_of({member_of("agentConnected == true")}, {})->expressions.size(), 1U);
  auto distinct = distinct_instance();
  distinct.expression = "agentConnected == true";
  EXPECT_THAT(constraint_error(distinct), HasSubstr("takes no expression"));
  EXPECT_THAT(constraint_error(member_of("")), HasSubstr("needs an expression"));
  EXPECT_THAT(constraint_error(member_of("nonsense")),
              HasSubstr("character 1: expected a subject"));
  EXPECT_THAT(constraint_error({}), HasSubstr("InvalidParameterException: A placement constraint"));
}

TEST(Rules, a_task_has_at_most_ten_constraints_and_five_strategies) {
  api::List<api::ecs::PlacementConstraint> constraints;
  for (int i = 0; i < 10; ++i) constraints.push_back(member_of("agentConnected == true"));
  EXPECT_TRUE(rules_of(constraints, {}).has_value());
  constraints.push_back(distinct_instance());
  EXPECT_THAT(rules_of(constraints, {}).error().message, HasSubstr("at most 10"));
  api::List<api::ecs::PlacementStrategy> strategies;
  for (int i = 0; i < 5; ++i) strategies.push_back(strategy(PlacementStrategyType::Random));
  EXPECT_TRUE(rules_of({}, strategies).has_value());
  strategies.push_back(strategy(PlacementStrategyType::Random));
  EXPECT_THAT(rules_of({}, strategies).error().message, HasSubstr("at most 5"));
}

TEST(Rules, the_fields_of_strategies_are_read_in_any_case) {
  const std::pair<api::ecs::PlacementStrategy, Strategy> cases[] = {
      {strategy(PlacementStrategyType::Spread, "instanceId"), {StrategyKind::SpreadInstance, ""}},
      {strategy(PlacementStrategyType::Spread, "INSTANCEID"), {StrategyKind::SpreadInstance, ""}},
      {strategy(PlacementStrategyType::Spread, "host"), {StrategyKind::SpreadInstance, ""}},
      {strategy(PlacementStrategyType::Spread, "Attribute:Rack"),
       {StrategyKind::SpreadAttribute, "Rack"}},
      {strategy(PlacementStrategyType::Binpack, "CPU"), {StrategyKind::BinpackCpu, ""}},
      {strategy(PlacementStrategyType::Binpack, "Memory"), {StrategyKind::BinpackMemory, ""}},
      {strategy(PlacementStrategyType::Binpack, "gpu"), {StrategyKind::BinpackGpu, ""}},
      {strategy(PlacementStrategyType::Binpack, "GPUmemory"), {StrategyKind::BinpackGpuMemory, ""}},
      {strategy(PlacementStrategyType::Random, "whatever"), {StrategyKind::Random, ""}},
  };
  for (const auto& [given, expected] : cases) {
    const auto rules = rules_of({}, {given});
    ASSERT_TRUE(rules.has_value()) << *given.field;
    EXPECT_EQ(rules->strategies[0], expected) << *given.field;
  }
  EXPECT_THAT(strategy_error(strategy(PlacementStrategyType::Spread, "zone")),
              HasSubstr("instanceId, host or attribute:<name>, not 'zone'"));
  EXPECT_THAT(strategy_error(strategy(PlacementStrategyType::Binpack)),
              HasSubstr("cpu, memory, gpu or gpuMemory, not ''"));
  EXPECT_THAT(strategy_error({}), HasSubstr("needs a type"));
}

}  // namespace
}  // namespace placement::test
