#include "sim/events.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "sim/network.h"

namespace sim {
namespace {

using std::chrono::seconds;

TEST(Events, happen_in_the_order_of_their_time_and_ties_in_the_order_of_asking) {
  Events events;
  std::vector<int> order;
  events.after(seconds(2), [&] { order.push_back(3); });
  events.after(seconds(1), [&] { order.push_back(1); });
  events.after(seconds(1), [&] { order.push_back(2); });
  const base::Time end = events.now() + seconds(5);
  while (events.run_next(end)) {
  }
  EXPECT_EQ(order, (std::vector{1, 2, 3}));
  EXPECT_EQ(events.now(), end);
}

RC_GTEST_PROP(DriftingClock, a_timer_is_never_early_and_at_most_two_milliseconds_late,
              (uint32_t offset_ms, uint16_t wait_s)) {
  const base::Time start{seconds(1'750'000'000)};
  const auto ppm = *rc::gen::inRange<int64_t>(-1000, 1001);
  const DriftingClock clock(start, base::Milliseconds{offset_ms % 60'000}, ppm);
  const base::Time now = start + seconds(*rc::gen::inRange(0, 3600));
  const base::Time wanted = clock.local(now) + seconds(wait_s);
  const base::Time then = now + clock.until(wanted, now);
  RC_ASSERT(clock.local(then) >= wanted);
  RC_ASSERT(clock.local(then) <= wanted + base::Milliseconds{2});
}

TEST(Link, carries_nothing_while_it_is_cut_and_everything_once_faults_have_stopped) {
  Environment environment(1, {});
  environment.rates.loss = 1000;
  Link link(environment, "m1");
  int arrived = 0;
  const auto pass = [&](base::Milliseconds by) {
    const base::Time end = environment.events.now() + by;
    while (environment.events.run_next(end)) {
    }
  };
  link.carry([&] { ++arrived; });
  pass(seconds(5));
  EXPECT_EQ(arrived, 0);  // Lost.
  environment.faults_on = false;
  link.cut(seconds(10));
  link.carry([&] { ++arrived; });
  pass(seconds(9));
  EXPECT_EQ(arrived, 0);
  pass(seconds(2));
  link.carry([&] { ++arrived; });
  pass(seconds(1));
  EXPECT_EQ(arrived, 1);
}

}  // namespace
}  // namespace sim
