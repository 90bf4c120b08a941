#include "placement/pack/objective.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

#include "base/random.h"
#include "placement/pack/testing_kinds.h"

namespace placement::pack {
namespace {

Offer offer_with(int64_t cpu_free, const std::vector<int32_t>& free) {
  Offer offer;
  offer.active = offer.connected = true;
  offer.cpu_free = cpu_free;
  offer.memory_free = eight_gpus.memory_mib;
  for (const int32_t milli : free) {
    offer.cards.push_back({.memory_mib = 10000,
                           .memory_free_mib = 10L * milli,
                           .milli_free = milli,
                           .whole_free = milli == 1000});
    offer.whole_gpus_free += milli == 1000;
  }
  offer.whole_gpus = static_cast<int32_t>(free.size());
  return offer;
}

struct Bench {
  explicit Bench(Policy policy, const std::vector<Weighted>& mix) : scale(policy) {
    profile.hardware = eight_gpus;
    profile.fragmentation = Fragmentation(eight_gpus, mix);
  }
  Score score(int64_t cpu_free, const std::vector<int32_t>& free, const Ask& ask) const {
    InstanceSummary summary = summary_of(offer_with(cpu_free, free));
    refresh(summary, profile, scale.tuning);
    return pack::score(scale, profile, summary, ask);
  }

  Scale scale;
  Profile profile;
};

Ask ask_whole(int32_t gpus, int64_t cpu_units) {
  return {.cpu_units = cpu_units, .whole_gpus = gpus};
}
Ask ask_share(int32_t milli, int64_t cpu_units) {
  return {.cpu_units = cpu_units, .shares = true, .share_cards = 0xFF, .share_milli = milli};
}

TEST(Objective, levels_are_the_sigmoid_in_hundredths) {
  for (const Policy policy : {Policy::Fgd, Policy::Berth}) {
    const Scale scale(policy);
    EXPECT_EQ(level_of(scale, 0), 50);
    EXPECT_EQ(level_of(scale, -1e-9), 50) << "0 but for rounding";
    EXPECT_EQ(level_of(scale, 1e9), 99);
    EXPECT_EQ(level_of(scale, -1e9), 0);
    for (double gain = -9000; gain < 9000; gain += 37) {
      const double level = 100 / (1 + std::exp(-gain / scale.tuning.scale));
      EXPECT_EQ(level_of(scale, gain), static_cast<int32_t>(level + 1e-9)) << gain;
    }
  }
}

TEST(Objective, a_standing_tells_whole_cards_from_shared_ones) {
  Offer offer = offer_with(5000, {1000, 400, 0});
  offer.cards[1].memory_free_mib = 3000;  // Less memory than compute is left.
  const InstanceSummary summary = summary_of(offer);
  EXPECT_EQ(summary.milli[0], 1000);
  EXPECT_EQ(summary.milli[1], 300);
  EXPECT_EQ(summary.milli[2], 0);
  EXPECT_EQ(summary.idle_milli, 1300);
  EXPECT_EQ(summary.whole_free, 1);
  EXPECT_FALSE(summary.special);
  EXPECT_TRUE(summary.same_state(summary_of(offer)));
  EXPECT_EQ(summary.digest, summary_of(offer).digest);
  offer.cpu_free = 4999;
  EXPECT_FALSE(summary.same_state(summary_of(offer)));
  EXPECT_NE(summary.digest, summary_of(offer).digest);
}

TEST(Objective, a_share_goes_on_the_card_that_it_completes) {
  const Bench bench(Policy::Berth, {{whole(1, 8000), 0.5}, {share(500, 4000), 0.5}});
  const Score score = bench.score(48000, {1000, 500, 1000, 700}, ask_share(500, 4000));
  EXPECT_EQ(score.card, 1);
}

TEST(Objective, a_task_without_gpus_keeps_away_from_gpus_that_need_the_cpu) {
  const Bench bench(Policy::Berth, {{whole(1, 8000), 1}});
  const Ask ask{.cpu_units = 12000};
  const int32_t gpus_all_taken = bench.score(36000, {0, 0, 0, 0, 0, 0, 0, 0}, ask).level;
  const int32_t gpus_idle = bench.score(36000, {1000, 1000, 1000, 0, 0, 0, 0, 0}, ask).level;
  EXPECT_GT(gpus_all_taken, gpus_idle);
}

TEST(Objective, a_dear_class_is_chosen_last) {
  Bench bench(Policy::Berth, {{whole(1, 8000), 1}});
  const Ask ask = ask_whole(1, 8000);
  const int32_t plain = bench.score(96000, {1000, 1000}, ask).level;
  bench.profile.price = 1;
  EXPECT_LT(bench.score(96000, {1000, 1000}, ask).level, plain);
  bench.scale.tuning = tuning_of(Policy::Berth, Bottleneck::Cpu);
  bench.profile.price = 0;
  const int32_t cpu_bound = bench.score(96000, {1000, 1000}, ask).level;
  bench.profile.price = 1;
  EXPECT_EQ(bench.score(96000, {1000, 1000}, ask).level, cpu_bound)
      << "no GPU is scarce where the CPU runs out";
}

TEST(Objective, bestfit_prefers_the_fuller_instance_and_the_tightest_card) {
  Bench bench(Policy::BestFit, {});
  bench.scale.most_cpu_units = 96000;
  bench.scale.most_gpus = 8;
  const Ask ask = ask_share(300, 1000);
  EXPECT_EQ(bench.score(50000, {1000, 300, 600}, ask).card, 1);
  EXPECT_GT(bench.score(10000, {300, 300}, ask).level, bench.score(90000, {1000, 1000}, ask).level);
}

TEST(Objective, the_potential_of_a_state_does_not_depend_on_how_it_came_about) {
  RC_ASSERT(rc::check("any cards", [](uint64_t seed) {
    base::Random dice(seed);
    const Bench bench(Policy::Berth, {{whole(1, 8000), 0.4},
                                      {share(300, 2000), 0.3},
                                      {whole(4, 9000), 0.2},
                                      {no_gpu(500), 0.1}});
    std::vector<int32_t> free;
    for (int i = 0; i < 8; ++i) {
      free.push_back(dice.chance(50) ? 1000 : static_cast<int32_t>(dice.below(1000)));
    }
    const auto cpu_free = static_cast<int64_t>(20000 + dice.below(70000));
    InstanceSummary before = summary_of(offer_with(cpu_free, free));
    refresh(before, bench.profile, bench.scale.tuning);
    if (before.whole_free == 0) return;
    std::vector<int32_t> left = free;
    *std::ranges::find(left, 1000) = 0;
    InstanceSummary after = summary_of(offer_with(cpu_free - 8000, left));
    refresh(after, bench.profile, bench.scale.tuning);
    RC_ASSERT(bench.score(cpu_free, free, ask_whole(1, 8000)).level ==
              level_of(bench.scale, before.potential - after.potential));
  }));
}

}  // namespace
}  // namespace placement::pack
