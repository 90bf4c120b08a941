#include "reconcile/queue/kept_clear.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconcile/queue/testing_world.h"

namespace reconcile::queue::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

// 20 instances with two GPUs each, of which one is kept clear; "large" has the most CPU, but a task
// that needs a whole one is elsewhere: the others are taken when it comes.
struct ClearWorld : World {
  ClearWorld() {
    add("whole", 2);
    whole = submit({.request = asks(2), .runs = hours(10)});
    pass();
    large = add("large", 2, 200'000);
    for (int i = 0; i < 18; ++i) add(base::format("{}", i), 2);
  }
  // As many tasks of one GPU as there would be room for, and one more.
  Outcome fill() {
    for (int i = 0; i < 39; ++i) small.push_back(submit({.request = asks(1), .runs = hours(10)}));
    return pass();
  }
  size_t tasks_on_large() const { return state.instances.at(large).tasks.size(); }

  model::TaskArn whole;
  model::InstanceArn large;
  std::vector<model::TaskArn> small;
};

TEST(KeptClear, the_next_task_that_needs_a_whole_instance_finds_one) {
  ClearWorld world;
  const Outcome outcome = world.fill();
  EXPECT_EQ(outcome.started, 36U);
  EXPECT_EQ(world.tasks_on_large(), 0U);
  ASSERT_EQ(outcome.waiting.size(), 3U);
  EXPECT_EQ(outcome.waiting[0].reason, "QUEUE");
  EXPECT_EQ(outcome.waiting[0].detail,
            "There is room, but on instances that are kept clear for tasks that need a whole one, "
            "as one does that runs now. With the tag berth:max-seconds it may go there.");
  EXPECT_EQ(outcome.waiting[0].estimated_start, std::nullopt);
  EXPECT_EQ(outcome.waiting[0].basis,
            "unknown: instance large is kept clear for tasks that need a whole one");
  const auto next = world.submit({.request = asks(2), .runs = minutes(1)});
  world.pass();
  ASSERT_TRUE(world.started.contains(next));
  EXPECT_EQ(world.state.tasks.at(next).instance, world.large);
}

TEST(KeptClear, a_task_that_has_told_its_length_may_go_there) {
  ClearWorld world;
  world.fill();
  const auto told =
      world.submit({.request = asks(1), .runs = minutes(5), .tags = {max_seconds(minutes(5))}});
  world.pass();
  ASSERT_TRUE(world.started.contains(told));
  EXPECT_EQ(world.state.tasks.at(told).instance, world.large);
}

TEST(KeptClear, nothing_is_kept_from_a_task_that_has_waited_for_long) {
  ClearWorld world;
  world.fill();
  const base::Time may_go = world.now + world.settings.longest_kept_off;
  world.now += minutes(30);
  const auto later = world.submit({.request = asks(1), .runs = minutes(5)});
  EXPECT_EQ(world.pass().wake, world.now + world.settings.patience);
  world.now += minutes(15);
  EXPECT_EQ(world.pass().wake, may_go);
  world.now = may_go;
  EXPECT_EQ(world.pass().started, 2U);
  EXPECT_EQ(world.tasks_on_large(), 2U);
  EXPECT_FALSE(world.started.contains(later));
}

TEST(KeptClear, without_a_task_that_holds_a_whole_instance_none_is) {
  ClearWorld world;
  world.pass_time(world.now + hours(10));
  ASSERT_EQ(world.running(), 0U);
  EXPECT_EQ(world.fill().started, 39U);
}

TEST(KeptClear, in_a_small_cluster_none_is) {
  World world;
  for (int i = 0; i < 4; ++i) world.add(base::format("{}", i), 2);
  world.submit({.request = asks(2), .runs = hours(10)});
  for (int i = 0; i < 6; ++i) world.submit({.request = asks(1), .runs = hours(10)});
  EXPECT_EQ(world.pass().started, 7U);
}

TEST(KeptClear, instances_with_other_numbers_of_gpus_are_not) {
  World world;
  world.settings.kept_clear_percent = 100;
  world.add("two", 2);
  world.submit({.request = asks(2), .runs = hours(10)});
  world.pass();
  world.add("four", 4);
  for (int i = 0; i < 4; ++i) world.submit({.request = asks(1), .runs = hours(10)});
  EXPECT_EQ(world.pass().started, 4U);
}

// Where only what is kept clear could run a task that waits, tasks that have told their length keep
// off it too.
TEST(KeptClear, a_task_that_waits_has_one_of_them_drained_where_no_other_would_do) {
  World world;
  const auto large = world.add("large", 2, 200'000);
  world.submit({.request = asks(1), .runs = hours(3)});
  world.pass();
  for (int i = 0; i < 19; ++i) world.add(base::format("{}", i), 2);
  world.submit({.request = asks(2), .runs = hours(10)});
  world.pass();
  placement::Request request = asks(2);
  request.resources.cpu_units = 150'000;
  const auto waits = world.submit({.request = request, .runs = minutes(1)});
  request = asks(1);
  request.resources.cpu_units = 110'000;
  world.now += minutes(11);
  const auto told =
      world.submit({.request = request, .runs = hours(4), .tags = {max_seconds(hours(4))}});
  EXPECT_THAT(world.pass().waiting.front().detail, HasSubstr("Instances are drained for it."));
  EXPECT_FALSE(world.started.contains(told));
  world.pass_time(world.next_end());
  world.pass();
  ASSERT_TRUE(world.started.contains(waits));
  EXPECT_EQ(world.state.tasks.at(waits).instance, large);
}

TEST(KeptClear, a_services_task_that_holds_a_whole_instance_is_no_reason) {
  World world;
  for (int i = 0; i < 20; ++i) world.add(base::format("{}", i), 2);
  placement::Request request = asks(2);
  request.group = "service:web";
  world.submit({.request = request, .runs = hours(10)});
  for (int i = 0; i < 38; ++i) world.submit({.request = asks(1), .runs = hours(10)});
  EXPECT_EQ(world.pass().started, 39U);
}

// However many tasks that need a whole instance come, and however many instances are kept clear.
RC_GTEST_PROP(KeptClearProperty, a_stream_of_large_tasks_starves_no_small_one, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  world.settings.kept_clear_percent = 100;
  for (int i = 0; i < 3; ++i) world.add(base::format("{}", i), 4);
  constexpr base::Milliseconds longest = minutes(15);
  const auto large = [&] {
    return Job{.request = asks(4), .runs = seconds(30 + dice.below(longest / seconds(1) - 30))};
  };
  for (uint64_t i = 3 + dice.below(4); i > 0; --i) world.submit(large());
  world.pass();
  const auto small = world.submit({.request = asks(1), .runs = minutes(1)});
  const base::Time asked = world.now;
  while (!world.started.contains(small)) {
    while (world.waiting.size() < 5) world.submit(large());
    world.pass();
    world.pass_time(std::min(world.next_end(), world.now + minutes(1)));
    RC_ASSERT(world.now <= asked + world.settings.longest_kept_off + longest + minutes(1));
  }
}

}  // namespace
}  // namespace reconcile::queue::testing
