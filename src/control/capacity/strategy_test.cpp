#include "control/capacity/strategy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <vector>

namespace control {
namespace {

api::ecs::CapacityProviderStrategyItem item(std::string name, int32_t weight, int32_t base = 0) {
  api::ecs::CapacityProviderStrategyItem made;
  made.capacity_provider = std::move(name);
  made.weight = weight;
  made.base = base;
  return made;
}

std::string deal(const Strategy& strategy, int tasks) {
  std::string order;
  ProviderCounts counts;
  for (int i = 0; i < tasks; ++i) {
    const std::string name = next_provider(strategy, counts);
    ++counts[name];
    order += name;
  }
  return order;
}

TEST(Strategy, tasks_are_dealt_out_by_base_and_weight) {
  struct Row {
    std::string what;
    Strategy strategy;
    std::string order;
  };
  const std::vector<Row> rows{
      {"one alone", {item("A", 1)}, "AAAA"},
      {"one alone without a weight", {item("A", 0)}, "AAA"},
      {"equal weights take turns", {item("A", 1), item("B", 1)}, "ABABAB"},
      {"one to three", {item("A", 1), item("B", 3)}, "BBABBBAB"},
      {"the base comes first", {item("A", 1), item("B", 1, 3)}, "BBBABAB"},
      {"a base without weight gets no more", {item("A", 0, 2), item("B", 1)}, "AABBBB"},
      {"weight 0 gets nothing", {item("A", 0), item("B", 2)}, "BBBB"},
      {"three", {item("A", 1), item("B", 1), item("C", 1)}, "ABCABC"},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(deal(row.strategy, static_cast<int>(row.order.size())), row.order) << row.what;
  }
}

TEST(Strategy, what_was_lost_is_made_up_for) {
  const Strategy strategy{item("A", 1), item("B", 1)};
  EXPECT_EQ(next_provider(strategy, {{"A", 4}, {"B", 1}}), "B");
  EXPECT_EQ(next_provider(strategy, {{"B", 4}}), "A");
  const Strategy based{item("A", 1, 2), item("B", 1)};
  EXPECT_EQ(next_provider(based, {{"A", 1}, {"B", 9}}), "A");
}

TEST(Strategy, no_share_is_ever_off_by_a_whole_task) {
  RC_ASSERT(rc::check("any weights", [](std::vector<uint16_t> drawn, uint8_t drawn_base) {
    Strategy strategy;
    int64_t weights = 0;
    for (size_t i = 0; i < drawn.size() && i < 20; ++i) {
      strategy.push_back(item("p" + std::to_string(i), drawn[i] % 1001));
      weights += drawn[i] % 1001;
    }
    RC_PRE(strategy.size() > 1 && weights > 0);
    const int32_t base = drawn_base % 5;
    strategy[drawn_base % strategy.size()].base = base;
    ProviderCounts counts;
    for (int n = 1; n <= 200; ++n) {
      ++counts[next_provider(strategy, counts)];
      if (n < base) continue;
      for (const auto& one : strategy) {
        const auto found = counts.find(*one.capacity_provider);
        const int64_t has = (found == counts.end() ? 0 : found->second) - one.base.value_or(0);
        const double ideal =
            static_cast<double>(n - base) * *one.weight / static_cast<double>(weights);
        RC_ASSERT(std::abs(static_cast<double>(has) - ideal) < 1.0);
      }
    }
  }));
}

}  // namespace
}  // namespace control
