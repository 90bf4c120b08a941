#include "reconcile/queue/queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reconcile/queue/testing_world.h"

namespace reconcile::queue::testing {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using ::testing::HasSubstr;

const Verdict& verdict(const Outcome& outcome, const model::TaskArn& task) {
  const auto found = std::ranges::find(outcome.waiting, task, &Verdict::task);
  CHECK(found != outcome.waiting.end());
  return *found;
}

TEST(Queue, a_task_that_fits_starts_at_once) {
  World world;
  world.add("a", 2);
  const auto task = world.submit({.request = asks(2), .runs = minutes(1)});
  const Outcome outcome = world.pass();
  EXPECT_EQ(outcome.started, 1U);
  EXPECT_TRUE(world.started.contains(task));
  EXPECT_TRUE(outcome.waiting.empty());
  EXPECT_EQ(outcome.wake, base::Time::max());
}

TEST(Queue, the_higher_priority_goes_first_then_the_older) {
  World world;
  world.add("a", 1);
  world.submit({.request = asks(1), .runs = minutes(1)});
  world.pass();
  const auto old = world.submit({.request = asks(1), .runs = minutes(1)});
  world.now += seconds(1);
  const auto young = world.submit({.request = asks(1), .runs = minutes(1)});
  world.now += seconds(1);
  const auto urgent =
      world.submit({.request = asks(1), .runs = minutes(1), .tags = {tag(priority_tag, "5")}});
  const auto idle =
      world.submit({.request = asks(1), .runs = minutes(1), .tags = {tag(priority_tag, "-5")}});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, urgent).position, 1);
  EXPECT_EQ(verdict(outcome, old).position, 2);
  EXPECT_EQ(verdict(outcome, young).position, 3);
  EXPECT_EQ(verdict(outcome, idle).position, 4);
  EXPECT_EQ(verdict(outcome, idle).length, 4);
  world.settle();
  EXPECT_LT(world.started.at(urgent), world.started.at(old));
  EXPECT_LT(world.started.at(old), world.started.at(young));
  EXPECT_LT(world.started.at(young), world.started.at(idle));
}

TEST(Queue, groups_take_turns_whoever_came_first) {
  World world;
  world.add("a", 4);
  for (int i = 0; i < 4; ++i) world.submit({.request = asks(1), .runs = minutes(1 + i)});
  world.pass();
  std::vector<model::TaskArn> greedy;
  for (int i = 0; i < 10; ++i) {
    greedy.push_back(world.submit({.request = asks(1), .runs = minutes(4)}));
  }
  world.now += seconds(1);
  const auto other = world.submit({.request = asks(1, "family:other"), .runs = minutes(4)});
  world.now += seconds(1);
  const auto shared =
      world.submit({.request = asks(1), .runs = minutes(4), .tags = {tag(share_tag, "another")}});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, other).position, 1);
  EXPECT_EQ(verdict(outcome, shared).position, 2);
  EXPECT_EQ(verdict(outcome, greedy.front()).position, 3);
}

TEST(Queue, of_groups_without_gpus_the_one_that_holds_less_cpu_or_memory_goes_first) {
  World world;
  world.add("a", 0, 1000, 1000);
  placement::Request large = asks(0, "family:large");
  large.resources.memory_mib = 600;
  placement::Request small = asks(0, "family:small");
  small.resources.cpu_units = 300;
  world.submit({.request = large, .runs = minutes(1)});
  world.submit({.request = small, .runs = minutes(1)});
  world.pass();
  large.resources.memory_mib = 400;
  small.resources.memory_mib = 400;
  const auto of_large = world.submit({.request = large, .runs = minutes(1)});
  world.now += seconds(1);
  const auto of_small = world.submit({.request = small, .runs = minutes(1)});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, of_small).position, 1);
  EXPECT_EQ(verdict(outcome, of_large).position, 2);
}

TEST(Queue, a_task_that_waited_too_long_goes_before_groups_that_hold_less) {
  World world;
  world.add("a", 2);
  world.submit({.request = asks(2, "family:heavy"), .runs = minutes(60)});
  world.pass();
  const auto heavy = world.submit({.request = asks(2, "family:heavy"), .runs = minutes(1)});
  const auto next = world.submit({.request = asks(2, "family:heavy"), .runs = minutes(1)});
  world.now += minutes(11);
  const auto light = world.submit({.request = asks(2, "family:light"), .runs = minutes(1)});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, heavy).position, 1);
  EXPECT_EQ(verdict(outcome, light).position, 2) << "one such at a time";
  EXPECT_EQ(verdict(outcome, next).position, 3);
}

// 8 GPUs: four free for ten minutes more, then all.
struct BackfillWorld : World {
  BackfillWorld() {
    add("a", 8);
    submit({.request = asks(4), .runs = minutes(10), .tags = {max_seconds(minutes(10))}});
    pass();
    large = submit({.request = asks(8), .runs = minutes(5), .tags = {max_seconds(minutes(5))}});
    now += seconds(1);
  }
  model::TaskArn large;
};

TEST(Queue, a_blocked_task_is_told_when_it_starts_and_how_sure_that_is) {
  BackfillWorld world;
  const base::Time free_at = world.next_end();
  const Outcome outcome = world.pass();
  const Verdict& told = verdict(outcome, world.large);
  EXPECT_EQ(told.position, 1);
  EXPECT_EQ(told.reason, "RESOURCE:GPU");
  EXPECT_EQ(told.estimated_start, free_at);
  EXPECT_EQ(told.basis, "by berth:max-seconds of 1 task");
}

TEST(Queue, a_small_task_passes_when_it_ends_before_the_blocked_one_starts) {
  BackfillWorld world;
  const base::Time free_at = world.next_end();
  const auto quick =
      world.submit({.request = asks(4), .runs = minutes(9), .tags = {max_seconds(minutes(9))}});
  world.settle();
  EXPECT_LT(world.started.at(quick), world.started.at(world.large));
  EXPECT_EQ(world.started.at(world.large), free_at);
}

TEST(Queue, a_small_task_that_would_delay_the_blocked_one_waits) {
  BackfillWorld world;
  const base::Time free_at = world.next_end();
  const auto slow =
      world.submit({.request = asks(4), .runs = minutes(11), .tags = {max_seconds(minutes(11))}});
  const auto endless = world.submit({.request = asks(1), .runs = minutes(1)});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, slow).reason, "QUEUE");
  EXPECT_EQ(verdict(outcome, slow).estimated_start, free_at + minutes(5));
  EXPECT_EQ(verdict(outcome, slow).basis,
            "by berth:max-seconds of 2 tasks, 1 of them waiting before it");
  EXPECT_EQ(verdict(outcome, endless).reason, "QUEUE") << "it does not say how long it runs";
  world.settle();
  EXPECT_EQ(world.started.at(world.large), free_at);
}

TEST(Queue, a_task_that_fits_before_what_is_booked_is_not_told_the_time_after_it) {
  World world;
  world.add("a", 4);
  const auto submit = [&](uint32_t gpus, base::Milliseconds runs) {
    return world.submit({.request = asks(gpus), .runs = runs, .tags = {max_seconds(runs)}});
  };
  submit(2, minutes(2));
  submit(2, minutes(5));
  world.pass();
  const auto large = submit(4, minutes(20));
  const auto small = submit(2, minutes(2));
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, large).estimated_start, world.now + minutes(5));
  EXPECT_EQ(verdict(outcome, small).estimated_start, world.now + minutes(2));
}

TEST(Queue, a_task_beside_what_is_booked_delays_nobody) {
  BackfillWorld world;
  world.add("b", 2);
  const auto endless = world.submit({.request = asks(2), .runs = minutes(100)});
  world.pass();
  EXPECT_TRUE(world.started.contains(endless));
}

TEST(Queue, where_nobody_knows_the_task_in_the_way_is_named) {
  World world;
  world.add("a", 2);
  world.submit({.request = asks(0), .runs = minutes(100)});
  const auto running = world.submit({.request = asks(1), .runs = minutes(100)});
  world.submit({.request = asks(0), .runs = minutes(100)});
  world.pass();
  const auto task = world.submit({.request = asks(2), .runs = minutes(1)});
  const auto impossible = world.submit({.request = asks(3), .runs = minutes(1)});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, task).estimated_start, std::nullopt);
  EXPECT_EQ(verdict(outcome, task).basis,
            base::format("unknown: task {} on instance a has no berth:max-seconds",
                         model::short_id(running.str())));
  EXPECT_EQ(verdict(outcome, impossible).basis, "never, as the cluster is now");
  EXPECT_EQ(outcome.wake, world.now + minutes(10)) << "to drain instances for it";
}

TEST(Queue, small_tasks_keep_out_of_an_instance_that_is_drained) {
  World world;
  world.add("a", 2);
  world.submit({.request = asks(1), .runs = minutes(30)});
  world.pass();
  const auto large = world.submit({.request = asks(2), .runs = minutes(1)});
  world.now += minutes(11);
  const auto small = world.submit({.request = asks(1), .runs = minutes(1)});
  const auto without_gpu = world.submit({.request = asks(0), .runs = minutes(60)});
  const Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, small).reason, "QUEUE");
  EXPECT_TRUE(world.started.contains(without_gpu)) << "it takes nothing that is lacked";
  EXPECT_THAT(verdict(outcome, large).detail, HasSubstr("Instances are drained for it."));
  world.settle();
  EXPECT_LT(world.started.at(large), world.started.at(small));
}

TEST(Queue, tasks_in_nobodys_way_do_not_turn_the_draining_to_another_instance) {
  World world;
  const auto first = world.add("a", 2);
  world.submit({.request = asks(1), .runs = minutes(50)});
  world.pass();
  world.now += minutes(1);
  world.add("b", 2, 100);
  world.submit({.request = asks(2), .runs = minutes(50)});
  world.pass();
  const auto large = world.submit({.request = asks(2), .runs = minutes(1)});
  world.now += minutes(11);
  placement::Request other = asks(0);
  other.resources.cpu_units = 1000;
  const auto without_gpu = world.submit({.request = other, .runs = minutes(90)});
  world.pass();
  ASSERT_EQ(world.state.tasks.at(without_gpu).instance, first);
  const auto small = world.submit({.request = asks(1), .runs = minutes(60)});
  world.pass();
  EXPECT_FALSE(world.started.contains(small)) << "it would be where the large one is to go";
  world.settle();
  EXPECT_LT(world.started.at(large), world.started.at(small));
}

TEST(Queue, an_instance_with_an_endless_task_is_drained_only_where_there_is_no_other) {
  World world;
  const auto endless = world.add("a", 3);
  world.submit({.request = asks(2), .runs = hours(1000)});
  world.pass();
  world.now += hours(2);
  world.add("b", 3);
  world.submit({.request = asks(2), .runs = hours(3)});
  world.pass();
  const auto large = world.submit({.request = asks(3), .runs = minutes(1)});
  world.now += minutes(11);
  const auto small = world.submit({.request = asks(1), .runs = minutes(1)});
  world.pass();
  ASSERT_TRUE(world.started.contains(small));
  EXPECT_EQ(world.state.tasks.at(small).instance, endless);
  world.pass_time(world.next_end());
  world.now += hours(1);
  const auto other = world.submit({.request = asks(1), .runs = minutes(1)});
  world.pass();
  EXPECT_FALSE(world.started.contains(other) && world.state.tasks.at(other).instance == endless)
      << "now both have run for long, and the one whose task began first is drained";
  EXPECT_FALSE(world.started.contains(large));
}

TEST(Queue, nobody_passes_a_task_that_waits_for_tasks_which_are_being_stopped) {
  World world;
  world.add("a", 2);
  const auto first = world.submit({.request = asks(1, "service:web"), .runs = seconds(5)});
  const auto second = world.submit({.request = asks(1, "service:web"), .runs = seconds(9)});
  world.pass();
  for (const auto& task : {first, second}) {
    world.apply(model::TaskStopRequested{task, "ServiceSchedulerInitiated", "", world.now});
  }
  const auto urgent =
      world.submit({.request = asks(2), .runs = hours(1), .tags = {tag(priority_tag, "10")}});
  world.submit({.request = asks(1), .runs = seconds(30), .tags = {max_seconds(seconds(30))}});
  world.pass_time(world.next_end());
  Outcome outcome = world.pass();
  EXPECT_EQ(outcome.started, 0U);
  EXPECT_EQ(verdict(outcome, urgent).position, 1);
  world.pass_time(world.next_end());
  outcome = world.pass();
  EXPECT_TRUE(world.started.contains(urgent));
}

TEST(Queue, what_can_never_start_is_told_at_once) {
  World world;
  world.add("a", 4);
  world.add("b", 1);
  world.add("c", 1);
  world.submit({.request = asks(4), .runs = hours(1)});
  world.pass();
  const auto huge = world.submit({.request = asks(16), .runs = minutes(1)});
  std::vector<model::TaskArn> gang;
  for (int i = 0; i < 3; ++i) {
    gang.push_back(world.submit(
        {.request = asks(2, "family:gang"), .runs = minutes(1), .gang = "g", .gang_size = 3}));
  }
  const auto patient = world.submit({.request = asks(2), .runs = minutes(1)});
  const Outcome outcome = world.pass();
  EXPECT_THAT(verdict(outcome, huge).detail, HasSubstr("no room for it. Stop it and ask for less"));
  EXPECT_THAT(verdict(outcome, huge).basis, HasSubstr("never"));
  EXPECT_THAT(verdict(outcome, gang.back()).detail,
              HasSubstr("no room for the 3 members of the gang"));
  EXPECT_THAT(verdict(outcome, patient).detail, ::testing::Not(HasSubstr("does not help")));
}

TEST(Queue, a_deadline_ends_the_wait_with_what_was_lacking) {
  World world;
  world.add("a", 1);
  world.submit({.request = asks(1), .runs = minutes(100)});
  world.pass();
  const auto task = world.submit(
      {.request = asks(1), .runs = minutes(1), .tags = {tag(queue_seconds_tag, "60")}});
  Outcome outcome = world.pass();
  EXPECT_EQ(outcome.wake, world.now + seconds(60));
  EXPECT_EQ(verdict(outcome, task).deadline, world.now + seconds(60));
  world.apply(model::TaskWaits{task, "RESOURCE:GPU", "Needs 1 GPU; 0 free of 1."});
  world.now += seconds(60);
  outcome = world.pass();
  ASSERT_EQ(outcome.expired.size(), 1U);
  EXPECT_EQ(outcome.expired[0].task, task);
  EXPECT_EQ(outcome.expired[0].reason,
            "TIMEOUT: it waited 60 s in the queue, as long as its tag berth:queue-seconds allows. "
            "What it lacked: RESOURCE:GPU. Needs 1 GPU; 0 free of 1.");
}

Job member(uint32_t gpus, int32_t size, base::Milliseconds runs) {
  return {.request = asks(gpus),
          .runs = runs,
          .tags = {max_seconds(runs)},
          .gang = "g",
          .gang_size = size};
}

TEST(Queue, a_gang_starts_whole_or_not_at_all) {
  World world;
  world.add("a", 4);
  world.add("b", 4);
  world.submit({.request = asks(4), .runs = minutes(10), .tags = {max_seconds(minutes(10))}});
  world.pass();
  const base::Time free_at = world.next_end();
  std::vector<model::TaskArn> gang;
  for (int i = 0; i < 2; ++i) gang.push_back(world.submit(member(4, 3, minutes(1))));
  Outcome outcome = world.pass();
  EXPECT_EQ(verdict(outcome, gang[0]).reason, "GANG");
  EXPECT_EQ(verdict(outcome, gang[0]).detail,
            "2 of the 3 members of its gang are there; all start together.");
  EXPECT_EQ(verdict(outcome, gang[0]).gang_present, 2);
  EXPECT_EQ(verdict(outcome, gang[0]).position, 0);
  gang.push_back(world.submit(member(0, 3, minutes(1))));
  outcome = world.pass();
  EXPECT_EQ(outcome.started, 0U) << "one of two would fit";
  EXPECT_EQ(verdict(outcome, gang[2]).position, 1);
  EXPECT_EQ(verdict(outcome, gang[2]).estimated_start, free_at);
  world.pass_time(free_at);
  outcome = world.pass();
  EXPECT_EQ(outcome.started, 3U);
  ASSERT_EQ(world.last_starts.size(), 1U) << "in one commit";
  EXPECT_EQ(world.last_starts[0].size(), 3U);
  EXPECT_EQ(world.last_starts[0][0].task, gang[0]) << "by rank";
}

TEST(Queue, a_gang_that_can_never_be_whole_ends_whole_at_its_deadline) {
  World world;
  world.add("a", 4);
  Job job = member(1, 3, minutes(1));
  world.submit(job);
  job.tags.push_back(tag(queue_seconds_tag, "60"));
  world.submit(job);
  world.pass();
  world.now += seconds(60);
  const Outcome outcome = world.pass();
  ASSERT_EQ(outcome.expired.size(), 2U);
  EXPECT_THAT(outcome.expired[0].reason, HasSubstr("another member of its gang waited"));
  EXPECT_THAT(outcome.expired[1].reason, HasSubstr("2 of the 3 members of its gang were there."));
}

TEST(Queue, the_gang_of_a_call_ends_whole_when_a_member_has_gone) {
  World world;
  world.add("a", 4);
  world.submit({.request = asks(4), .runs = minutes(10)});
  world.pass();
  Job job = member(1, 3, minutes(1));
  job.tags.push_back(tag(gang_tag, std::string(gang_of_call)));
  for (int i = 0; i < 3; ++i) world.submit(job);
  EXPECT_TRUE(world.pass().expired.empty());
  world.waiting.pop_back();
  const Outcome outcome = world.pass();
  ASSERT_EQ(outcome.expired.size(), 2U);
  EXPECT_EQ(outcome.expired[0].reason,
            "GANG: 2 of the 3 members of its gang are left; all start together or none.");
}

TEST(Queue, instances_without_an_agent_are_nobodys_hope) {
  World world;
  const auto gone = world.add("a", 2);
  world.submit({.request = asks(1), .runs = minutes(10), .tags = {max_seconds(minutes(10))}});
  world.pass();
  world.apply(model::AgentConnectionChanged{gone, false, "", world.now});
  const auto task = world.submit({.request = asks(2), .runs = minutes(1)});
  EXPECT_EQ(verdict(world.pass(), task).estimated_start, std::nullopt);
}

TEST(Queue, a_task_that_outran_its_time_is_expected_to_end_any_moment) {
  World world;
  world.add("a", 1);
  world.submit({.request = asks(1), .runs = minutes(10), .tags = {max_seconds(minutes(1))}});
  world.pass();
  world.now += minutes(5);
  const auto task = world.submit({.request = asks(1), .runs = minutes(1)});
  EXPECT_EQ(verdict(world.pass(), task).estimated_start, world.now + minutes(1));
}

TEST(QueueTags, what_is_wrong_is_named_with_its_right_form) {
  const std::pair<api::List<api::ecs::Tag>, std::string> cases[] = {
      {{tag(priority_tag, "high")},
       "Tag berth:priority is \"high\"; it must be a whole number from -1000000 to 1000000."},
      {{tag(max_seconds_tag, "0")}, "Tag berth:max-seconds is \"0\"; it must be a whole number"},
      {{tag(max_seconds_tag, "10s")}, "Tag berth:max-seconds is \"10s\""},
      {{tag(queue_seconds_tag, "-1")}, "Tag berth:queue-seconds is \"-1\""},
      {{tag(share_tag, "")}, "Tag berth:share is \"\"; it must be a name."},
      {{tag(gang_tag, "g")}, "Tag berth:gang names the gang \"g\" without berth:gang-size"},
      {{tag(gang_tag, "g"), tag(gang_size_tag, "1")}, "berth:gang-size is \"1\""},
      {{tag(gang_tag, "all"), tag(gang_size_tag, "2")}, "berth:gang-size must be left out"},
      {{tag(gang_size_tag, "2")}, "Tag berth:gang-size needs the tag berth:gang"},
  };
  for (const auto& [tags, part] : cases) {
    const auto read = read_tags(tags);
    ASSERT_FALSE(read.has_value()) << part;
    EXPECT_EQ(read.error().code, "InvalidParameterException");
    EXPECT_THAT(read.error().message, HasSubstr(part));
  }
  const auto read = read_tags({tag(priority_tag, "-3"), tag(max_seconds_tag, "60"),
                               tag(gang_tag, "g"), tag(gang_size_tag, "16"), tag("other", "x")});
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->priority, -3);
  EXPECT_EQ(read->max_run, seconds(60));
  EXPECT_EQ(read->gang_size, 16);
}

}  // namespace
}  // namespace reconcile::queue::testing
