#include "base/pace.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace base {
namespace {

using std::chrono::milliseconds;

TEST(Pace, without_a_limit_everything_passes) {
  const Pace pace(0, 0);
  std::atomic<int64_t> due = 0;
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(pace.pass(due, milliseconds{5}));
}

TEST(Pace, a_burst_passes_at_once_and_then_one_for_each_interval) {
  const Pace pace(10, 5);
  std::atomic<int64_t> due = 0;
  const milliseconds start{1'000'000};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pace.pass(due, start));
  EXPECT_FALSE(pace.pass(due, start));
  EXPECT_FALSE(pace.pass(due, start + milliseconds{99}));
  EXPECT_TRUE(pace.pass(due, start + milliseconds{100}));
  EXPECT_FALSE(pace.pass(due, start + milliseconds{100}));
  // Silence gives back the burst and no more.
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pace.pass(due, start + milliseconds{60'000}));
  EXPECT_FALSE(pace.pass(due, start + milliseconds{60'000}));
}

// However the calls come, what passes in any span is at most the burst and the span's share, and a
// call that is refused would have broken that.
RC_GTEST_PROP(PaceProperty, passes_what_a_token_bucket_would, ()) {
  const auto rate = *rc::gen::inRange<int64_t>(1, 1001);
  const auto burst = *rc::gen::inRange<int64_t>(1, 50);
  const auto waits = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 40));
  const Pace pace(rate, burst);
  std::atomic<int64_t> due = 0;
  milliseconds now{1};
  double tokens = static_cast<double>(burst);
  const double spacing_ms = static_cast<double>(1'000'000'000 / rate) / 1e6;
  for (const int wait : waits) {
    now += milliseconds{wait};
    tokens = std::min(static_cast<double>(burst), tokens + wait / spacing_ms);
    const bool passed = pace.pass(due, now);
    if (passed) RC_ASSERT(tokens > 1 - 1e-6);
    if (!passed) RC_ASSERT(tokens < 1 + 1e-6);
    if (passed) tokens -= 1;
  }
}

}  // namespace
}  // namespace base
