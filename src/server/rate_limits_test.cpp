#include "server/rate_limits.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace server {
namespace {

using std::chrono::milliseconds;

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
