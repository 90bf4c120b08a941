#include "server/rate_limits.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace server {
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

TEST(RateLimits, one_key_does_not_use_up_anothers_and_a_client_not_the_agents) {
  RateLimits limits(10);
  const milliseconds now{77};
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(limits.pass("KEYA", "ListTasks", now));
  EXPECT_FALSE(limits.pass("KEYA", "ListTasks", now));
  EXPECT_FALSE(limits.pass("KEYA", "RunTask", now));
  EXPECT_TRUE(limits.pass("KEYB", "ListTasks", now));
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(limits.pass("KEYA", "SubmitTaskStateChange", now));
  EXPECT_FALSE(limits.pass("KEYA", "SubmitTaskStateChange", now));
  EXPECT_TRUE(limits.pass("KEYA", "ListTasks", now + milliseconds{100}));
}

TEST(RateLimits, several_threads_together_get_no_more_than_one) {
  RateLimits limits(1'000);
  std::atomic<int> passed = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int call = 0; call < 5'000; ++call) {
          if (limits.pass("KEY", "ListTasks", milliseconds{9})) ++passed;
        }
      });
    }
  }
  EXPECT_EQ(passed, 2'000);
}

TEST(Handshakes, an_agent_that_opens_websockets_without_end_is_held_up_and_no_other) {
  Handshakes handshakes;
  const auto caller = [](std::string key, auth::Access access) {
    auth::Caller made;
    made.access_key_id = std::move(key);
    made.access = std::move(access);
    return made;
  };
  const auth::Caller loud = caller("BERTHALOUD", auth::AgentAccess{});
  const auth::Caller quiet = caller("BERTHAQUIET", auth::AgentAccess{});
  const auth::Caller root = caller("AKIAROOT", auth::FullAccess{});
  const base::Milliseconds now{1'000'000};
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(handshakes.pass(loud, base::format("{}", i), now));
  EXPECT_FALSE(handshakes.pass(loud, "another", now));
  EXPECT_TRUE(handshakes.pass(quiet, "1", now));
  for (int i = 0; i < 60; ++i) EXPECT_TRUE(handshakes.pass(root, "mine", now));
  EXPECT_FALSE(handshakes.pass(root, "mine", now));
  EXPECT_TRUE(handshakes.pass(root, "yours", now));
  EXPECT_TRUE(handshakes.pass(loud, "1", now + base::Milliseconds{1'000}));
}

}  // namespace
}  // namespace server
