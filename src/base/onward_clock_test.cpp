#include "base/onward_clock.h"

#include <gtest/gtest.h>

namespace base {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

class SetClock final : public Clock {
 public:
  Time now() override { return wall; }
  Milliseconds monotonic() override { return since_boot; }
  void pass(Milliseconds time) {
    wall += time;
    since_boot += time;
  }
  Time wall{hours(1'000'000 / 24)};
  Milliseconds since_boot{5'000};
};

TEST(OnwardClock, shows_the_wall_clock_and_follows_it_forward) {
  SetClock clock;
  OnwardClock onward(clock);
  EXPECT_EQ(onward.now(), clock.wall);
  clock.pass(seconds(3));
  EXPECT_EQ(onward.now(), clock.wall);
  clock.wall += hours(1);
  EXPECT_EQ(onward.now(), clock.wall);
}

TEST(OnwardClock, goes_on_at_half_speed_while_the_wall_clock_is_behind) {
  SetClock clock;
  OnwardClock onward(clock);
  const Time before = onward.now();
  clock.wall -= hours(1);
  EXPECT_EQ(onward.now(), before);
  clock.pass(minutes(10));
  EXPECT_EQ(onward.now(), before + minutes(5));
  // However often it is asked.
  for (int i = 0; i < 600'000; ++i) {
    clock.pass(Milliseconds{1});
    onward.now();
  }
  EXPECT_EQ(onward.now(), before + minutes(10));
  clock.pass(minutes(100));
  EXPECT_EQ(onward.now(), before + minutes(60));
  EXPECT_EQ(onward.now(), clock.wall);
  clock.pass(seconds(1));
  EXPECT_EQ(onward.now(), clock.wall);
}

}  // namespace
}  // namespace base
