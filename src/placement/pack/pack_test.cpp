#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "placement/pack/fragmentation.h"
#include "placement/pack/mix.h"
#include "placement/pack/scarcity.h"
#include "placement/pack/share_value.h"
#include "placement/pack/testing_kinds.h"

namespace placement::pack {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;

// ---- Fragmentation

Reach reach_of(const Fragmentation& table, const std::vector<int16_t>& free) {
  Reach reach;
  for (const int16_t milli : free) table.add(reach, milli);
  return reach;
}

// What the typical task can use, from the paper's formula: R - F.
double plain_useful(const std::vector<int16_t>& free, int64_t cpu_free,
                    const std::vector<Weighted>& kinds) {
  double useful = 0;
  for (const auto& [kind, weight] : kinds) {
    const int32_t milli = milli_on(eight_gpus, kind);
    const auto enough = std::ranges::count_if(free, [&](int16_t each) { return each >= milli; });
    if (!kind.wants_gpu() || cpu_free < kind.cpu_units || enough < gpus_on(eight_gpus, kind)) {
      continue;
    }
    for (const int16_t each : free) useful += each >= milli ? weight * each : 0;
  }
  return useful;
}

TEST(Fragmentation, counts_what_each_kind_can_use) {
  const Fragmentation table(eight_gpus, {{whole(1, 8000), 0.5},
                                         {share(300, 2000), 0.25},
                                         {whole(2, 1000), 0.125},
                                         {no_gpu(1000), 0.125}});
  const auto useful = [&](const std::vector<int16_t>& free, int64_t cpu_free) {
    return table.useful(reach_of(table, free), cpu_free);
  };
  EXPECT_DOUBLE_EQ(useful({1000, 1000}, 8000), 0.5 * 2000 + 0.25 * 2000 + 0.125 * 2000);
  EXPECT_DOUBLE_EQ(useful({1000, 1000}, 7999), 0.25 * 2000 + 0.125 * 2000) << "too little CPU";
  EXPECT_DOUBLE_EQ(useful({1000, 299}, 8000), 0.5 * 1000 + 0.25 * 1000) << "a sliver is no use";
  EXPECT_DOUBLE_EQ(useful({700, 300}, 8000), 0.25 * 1000) << "only shares fit";
  EXPECT_DOUBLE_EQ(useful({1000, 1000}, 999), 0);
  EXPECT_DOUBLE_EQ(useful({}, 96000), 0);
}

TEST(Fragmentation, agrees_with_the_formula_of_the_paper) {
  RC_ASSERT(rc::check("any kinds and cards", [](uint64_t seed) {
    base::Random dice(seed);
    std::vector<Weighted> kinds;
    for (uint64_t i = 0; i < 1 + dice.below(12); ++i) {
      const auto cpu = static_cast<int64_t>(1000 * dice.below(9));
      const auto milli = static_cast<int32_t>(50 * (1 + dice.below(19)));
      kinds.push_back({dice.chance(20)   ? no_gpu(cpu)
                       : dice.chance(50) ? whole(static_cast<int32_t>(1 + dice.below(8)), cpu)
                                         : share(milli, cpu),
                       0.1 * static_cast<double>(1 + dice.below(9))});
    }
    std::vector<int16_t> free;
    for (uint64_t i = 0; i < dice.below(9); ++i) {
      free.push_back(static_cast<int16_t>(dice.chance(40) ? 1000 : dice.below(1000)));
    }
    const auto cpu_free = static_cast<int64_t>(500 * dice.below(20));
    const Fragmentation table(eight_gpus, kinds);
    Reach reach = reach_of(table, free);
    const double useful = table.useful(reach, cpu_free);
    RC_ASSERT(std::abs(useful - plain_useful(free, cpu_free, kinds)) < 1e-6);

    // What joins and leaves again leaves no trace.
    const auto passing = static_cast<int16_t>(dice.below(1001));
    table.add(reach, passing);
    table.remove(reach, passing);
    RC_ASSERT(table.useful(reach, cpu_free) == useful);
  }));
}

TEST(Fragmentation, merged_levels_never_promise_more) {
  std::vector<Weighted> kinds;
  for (int32_t milli = 10; milli < 1000; milli += 10) kinds.push_back({share(milli), 0.01});
  ASSERT_GT(kinds.size(), most_levels);
  const Fragmentation table(eight_gpus, kinds);
  for (int16_t milli = 0; milli <= 1000; milli += 5) {
    const double useful = table.useful(reach_of(table, {milli}), 1000);
    EXPECT_LE(useful, plain_useful({milli}, 1000, kinds) + 1e-9) << milli;
    EXPECT_GE(useful, plain_useful({milli}, 1000, kinds) - 0.06 * milli - 1e-9) << milli;
  }
}

// ---- What the rest of a shared GPU is worth

TEST(ShareValue, half_a_gpu_is_what_half_of_the_shares_fit) {
  const ShareValue value({{.milli = 470, .weight = 1}});
  EXPECT_DOUBLE_EQ(value.of(0), 0);
  EXPECT_DOUBLE_EQ(value.of(465), 0);
  EXPECT_DOUBLE_EQ(value.of(470), 0.5);
  EXPECT_DOUBLE_EQ(value.of(935), 0.5);
  EXPECT_DOUBLE_EQ(value.of(940), 1);
  EXPECT_DOUBLE_EQ(value.of(1000), 1);
}

TEST(ShareValue, without_sizes_nothing_is_worth_anything) {
  EXPECT_DOUBLE_EQ(ShareValue().of(1000), 0);
  EXPECT_DOUBLE_EQ(ShareValue(std::vector<ShareValue::Size>{}).of(1000), 0);
}

TEST(ShareValue, a_rest_that_completes_a_pair_is_worth_more_than_its_size) {
  // 800 leaves 200, which only the rare 190 can use; the 800 is nearly a whole GPU.
  const ShareValue value({{.milli = 190, .weight = 1}, {.milli = 800, .weight = 20}});
  EXPECT_GT(value.of(800), 0.8);
  EXPECT_LT(value.of(190), 0.2);
  EXPECT_DOUBLE_EQ(value.of(1000), 1);
}

TEST(ShareValue, grows_and_is_worth_most_in_one_piece) {
  RC_ASSERT(rc::check("any sizes", [](uint64_t seed) {
    base::Random dice(seed);
    std::vector<ShareValue::Size> sizes;
    for (int32_t milli = 10; milli < 1000; milli += 10) {
      if (dice.chance(6)) sizes.push_back({milli, static_cast<double>(1 + dice.below(50))});
    }
    const ShareValue value(sizes);
    RC_ASSERT(std::abs(value.of(1000) - (sizes.empty() ? 0 : 1)) < 1e-9);
    for (int i = 0; i < 50; ++i) {
      const auto left = static_cast<int32_t>(dice.below(1001));
      const auto right = static_cast<int32_t>(dice.below(static_cast<uint64_t>(1001 - left)));
      RC_ASSERT(value.of(left) >= 0.0);
      RC_ASSERT(value.of(left) + value.of(right) <= value.of(left + right) + 1e-9);
    }
  }));
}

// ---- Scarcity

TEST(Scarcity, a_class_that_only_one_flow_needs_is_dearer) {
  // Flow 0 must use class 0, flow 1 may use both.
  const auto prices =
      scarcity({{.weight = 3, .where = {0}}, {.weight = 1, .where = {0, 1}}}, {1000, 1000});
  EXPECT_GT(prices[0], 0.3);
  EXPECT_LT(prices[1], -0.3);
}

TEST(Scarcity, nothing_is_dear_where_all_can_go_everywhere) {
  EXPECT_THAT(
      scarcity({{.weight = 2, .where = {0, 1}}, {.weight = 5, .where = {0, 1}}}, {4000, 1000}),
      Each(DoubleNear(0, 1e-6)));
  EXPECT_THAT(scarcity({}, {4000, 1000}), Each(0.0)) << "nothing arrives";
}

TEST(Scarcity, prices_are_bounded_and_do_not_depend_on_the_unit) {
  RC_ASSERT(rc::check("any flows", [](uint64_t seed) {
    base::Random dice(seed);
    std::vector<double> free;
    for (uint64_t i = 0; i < 1 + dice.below(6); ++i) {
      free.push_back(static_cast<double>(dice.chance(20) ? 0 : 1000 * dice.below(500)));
    }
    std::vector<Flow> flows;
    for (uint64_t i = 0; i < 1 + dice.below(6); ++i) {
      Flow flow{.weight = static_cast<double>(1 + dice.below(100)), .where = {}};
      for (size_t c = 0; c < free.size(); ++c) {
        if (dice.chance(50)) flow.where.push_back(c);
      }
      if (flow.where.empty()) flow.where.push_back(dice.below(free.size()));
      flows.push_back(flow);
    }
    const std::vector<double> prices = scarcity(flows, free);
    RC_ASSERT(prices.size() == free.size());
    for (Flow& flow : flows) flow.weight *= 7;
    const std::vector<double> same = scarcity(flows, free);
    for (size_t c = 0; c < free.size(); ++c) {
      RC_ASSERT(prices[c] >= -1.0);
      RC_ASSERT(prices[c] <= most_price);
      RC_ASSERT(std::abs(prices[c] - same[c]) < 1e-6);
    }
  }));
}

// ---- The workload

std::vector<Kind> kinds_of(const std::vector<Weighted>& list) {
  std::vector<Kind> kinds;
  for (const Weighted& each : list) kinds.push_back(each.kind);
  return kinds;
}

Mix mix_of(const std::vector<std::pair<Kind, int>>& tasks, double half_life = 0) {
  Mix mix(half_life);
  for (const auto& [kind, count] : tasks) {
    for (int i = 0; i < count; ++i) mix.observe(kind);
  }
  return mix;
}

TEST(Mix, the_typical_kinds_are_the_fewest_that_cover_enough) {
  const Mix mix = mix_of({{whole(1), 60}, {share(500), 25}, {no_gpu(1000), 10}, {whole(8), 5}});
  EXPECT_THAT(kinds_of(mix.typical(0.94)), ElementsAre(whole(1), share(500), no_gpu(1000)));
  EXPECT_THAT(kinds_of(mix.typical(0.8)), ElementsAre(whole(1), share(500)));
  EXPECT_DOUBLE_EQ(mix.typical(0.8)[0].weight, 60.0 / 85);
  EXPECT_THAT(kinds_of(mix.typical(0.95, Mix::Tasks::WithGpus)),
              ElementsAre(whole(1), share(500), whole(8)))
      << "85 of 90 are less than 95 %";
  EXPECT_TRUE(mix_of({{no_gpu(1), 3}}).typical(0.95, Mix::Tasks::WithGpus).empty());
}

TEST(Mix, kinds_that_differ_in_memory_only_are_one_typical_kind) {
  Kind small = whole(1, 500);
  small.memory_mib = 100;
  Kind large = small;
  large.memory_mib = 9000;
  const Mix mix = mix_of({{small, 1}, {large, 1}});
  EXPECT_EQ(mix.all().size(), 2U);
  EXPECT_THAT(kinds_of(mix.typical(1)), ElementsAre(whole(1, 500)));
}

TEST(Mix, a_task_weighs_half_after_its_half_life) {
  const Mix mix = mix_of({{whole(1), 1}, {whole(2), 10}}, 10);
  const auto list = mix.all();
  const double fresh = list[1].weight;
  double expected = 0;  // Of the ten, the last weighs one.
  for (int age = 0; age < 10; ++age) expected += std::exp2(-0.1 * age);
  EXPECT_NEAR(list[0].weight / fresh, 0.5 / expected, 1e-9);
  EXPECT_NEAR(mix.weight(), 0.5 + expected, 1e-9) << "in tasks as heavy as the last";
}

TEST(Mix, rare_kinds_are_forgotten_when_there_are_too_many) {
  Mix mix(0);
  for (int i = 0; i < 10; ++i) mix.observe(whole(8));
  for (int64_t i = 0; i < 5000; ++i) mix.observe(no_gpu(i + 1));
  EXPECT_LT(mix.all().size(), 4097U);
  EXPECT_THAT(kinds_of(mix.all()), testing::Contains(whole(8)));
}

TEST(Mix, distance_is_a_measure_from_0_to_1) {
  const std::vector<Weighted> one = {{whole(1), 0.5}, {whole(2), 0.5}};
  EXPECT_DOUBLE_EQ(distance(one, one), 0);
  EXPECT_DOUBLE_EQ(distance(one, {{whole(3), 1}}), 1);
  EXPECT_DOUBLE_EQ(distance(one, {{whole(2), 1}}), 0.5);
  EXPECT_DOUBLE_EQ(distance({{whole(2), 1}}, one), 0.5);
}

}  // namespace
}  // namespace placement::pack
