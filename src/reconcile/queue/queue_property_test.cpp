// What the queue promises, over random clusters and loads.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "reconcile/queue/testing_world.h"

namespace reconcile::queue::testing {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

placement::Request asks_mostly_gpus(uint32_t gpus, std::string group = "family:train") {
  placement::Request request = asks(gpus, std::move(group));
  request.resources.cpu_units = 10;
  request.resources.memory_mib = 10;
  return request;
}

void add_instances(World& world, base::Random& dice, uint64_t most) {
  const uint64_t count = 1 + dice.below(most);
  for (uint64_t i = 0; i < count; ++i) {
    world.add(base::format("{}", i), static_cast<int>(1 + dice.below(8)));
  }
}

Job random_job(base::Random& dice, uint32_t most_gpus) {
  const base::Milliseconds runs = seconds(1 + dice.below(600));
  return {.request = asks_mostly_gpus(1 + static_cast<uint32_t>(dice.below(most_gpus))),
          .runs = runs,
          .tags = {max_seconds(runs)}};
}

int32_t gpus_of(const World& world, const model::TaskArn& arn) {
  const auto found = std::ranges::find(world.waiting, arn, &WaitingTask::arn);
  return found->need->demand.whole_gpus;
}

// The earliest time at which one instance has so many GPUs free, when nothing else starts.
base::Time brute_force_start(const World& world, int32_t gpus) {
  base::Time best = base::Time::max();
  for (const auto& [arn, instance] : world.state.instances) {
    if (static_cast<int32_t>(instance.gpus.size()) < gpus) continue;
    std::vector<std::pair<base::Time, int32_t>> ends;
    auto free = static_cast<int32_t>(instance.gpus.size());
    for (const model::TaskArn& task_arn : instance.tasks) {
      const model::Task& task = world.state.tasks.at(task_arn);
      const auto held = static_cast<int32_t>(task.held.gpus.size());
      ends.emplace_back(*task.started_at + *read_tags(task.tags)->max_run, held);
      free -= held;
    }
    std::ranges::sort(ends);
    base::Time at = world.now;
    for (size_t i = 0; free < gpus && i < ends.size(); ++i) {
      at = ends[i].first;
      free += ends[i].second;
    }
    if (free >= gpus) best = std::min(best, at);
  }
  return best;
}

// When all run exactly as long as they say: the first in the queue starts when brute force over the
// running tasks says, nothing that passes it puts that off, and it starts no later.
RC_GTEST_PROP(QueueProperty, nothing_that_passes_the_first_delays_it, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  add_instances(world, dice, 4);
  std::map<model::TaskArn, base::Time> promised;
  for (int step = 0; step < 60; ++step) {
    for (uint64_t i = dice.below(4); i > 0; --i) world.submit(random_job(dice, 8));
    const Outcome outcome = world.pass();
    // What has started counts for its group, and so another may be next in order.
    Outcome again = world.pass();
    for (int i = 0; again.started > 0 && i < 10; ++i) again = world.pass();
    RC_ASSERT(again.started == 0U);
    for (const Verdict& verdict : again.waiting) {
      if (verdict.position != 1) continue;
      const base::Time reference = brute_force_start(world, gpus_of(world, verdict.task));
      if (reference == base::Time::max()) {
        RC_ASSERT(!verdict.estimated_start);
        world.waiting.erase(world.waiting.begin());  // No instance will ever have so many.
        break;
      }
      RC_ASSERT(verdict.estimated_start == reference);
      const auto [told, added] = promised.try_emplace(verdict.task, reference);
      RC_ASSERT(reference <= told->second);
      told->second = reference;
    }
    for (const Verdict& before : outcome.waiting) {
      const auto same = std::ranges::find(again.waiting, before.task, &Verdict::task);
      if (before.position == 1 && same->position == 1) {
        RC_ASSERT(same->estimated_start <= before.estimated_start);
      }
    }
    world.pass_time(std::min(world.next_end(), world.now + seconds(dice.below(120))));
    model::check_invariants(world.state);
  }
  world.settle();
  for (const auto& [task, at] : promised) {
    if (world.started.contains(task)) RC_ASSERT(world.started.at(task) <= at);
  }
}

// What comes later, and passes, changes nothing for those that wait already.
RC_GTEST_PROP(QueueProperty, later_arrivals_change_no_estimate, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  add_instances(world, dice, 4);
  for (int step = 0; step < 40; ++step) {
    world.pass();
    const std::vector<WaitingTask> before = world.waiting;
    const Outcome quiet = world.pass();
    for (uint64_t i = dice.below(5); i > 0; --i) world.submit(random_job(dice, 4));
    const Outcome busy = world.pass();
    for (const Verdict& old : quiet.waiting) {
      const auto same = std::ranges::find(busy.waiting, old.task, &Verdict::task);
      RC_ASSERT(same != busy.waiting.end());
      RC_ASSERT(same->position == old.position);
      RC_ASSERT(same->estimated_start == old.estimated_start);
    }
    world.pass_time(std::min(world.next_end(), world.now + seconds(dice.below(120))));
  }
}

// An endless stream of small tasks fills every GPU that comes free.
RC_GTEST_PROP(QueueProperty, a_stream_of_small_tasks_starves_no_large_one,
              (uint32_t seed, bool tell_times)) {
  base::Random dice(seed);
  World world;
  for (int i = 0; i < 3; ++i) world.add(base::format("{}", i), 8);
  constexpr base::Milliseconds longest = minutes(15);
  const auto small = [&] {
    const base::Milliseconds runs = seconds(30 + dice.below(longest / seconds(1) - 30));
    Job job{.request = asks_mostly_gpus(1), .runs = runs};
    if (tell_times && dice.chance(70)) job.tags.push_back(max_seconds(runs));
    return job;
  };
  for (int i = 0; i < 40; ++i) world.submit(small());
  world.pass();
  const auto large = world.submit({.request = asks_mostly_gpus(8), .runs = minutes(1)});
  const base::Time asked = world.now;
  while (!world.started.contains(large)) {
    while (world.waiting.size() < 20) world.submit(small());
    world.pass();
    world.pass_time(std::min(world.next_end(), world.now + minutes(1)));
    RC_ASSERT(world.now <= asked + world.settings.patience + 2 * longest);
  }
}

RC_GTEST_PROP(QueueProperty, a_stream_of_small_tasks_starves_no_gang, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  for (int i = 0; i < 4; ++i) world.add(base::format("{}", i), 4);
  constexpr base::Milliseconds longest = minutes(15);
  const auto small = [&] {
    return Job{.request = asks_mostly_gpus(1),
               .runs = seconds(30 + dice.below(longest / seconds(1) - 30))};
  };
  for (int i = 0; i < 40; ++i) world.submit(small());
  world.pass();
  std::vector<model::TaskArn> gang;
  for (int i = 0; i < 3; ++i) {
    gang.push_back(world.submit(
        {.request = asks_mostly_gpus(4), .runs = minutes(1), .gang = "g", .gang_size = 3}));
  }
  const base::Time asked = world.now;
  while (!world.started.contains(gang.front())) {
    while (world.waiting.size() < 20) world.submit(small());
    world.pass();
    world.pass_time(std::min(world.next_end(), world.now + minutes(1)));
    RC_ASSERT(world.now <= asked + world.settings.patience + 2 * longest);
  }
  for (const model::TaskArn& one : gang) {
    RC_ASSERT(world.started.at(one) == world.started.at(gang.front()));
  }
}

RC_GTEST_PROP(QueueProperty, gangs_start_whole_in_one_commit, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  add_instances(world, dice, 6);
  std::map<model::TaskArn, std::pair<std::string, size_t>> gang_of;
  for (int step = 0; step < 40; ++step) {
    for (uint64_t i = dice.below(3); i > 0; --i) {
      Job job = random_job(dice, 3);
      job.gang = base::format("gang-{}", dice.below(3));
      job.gang_size = 2 + static_cast<int32_t>(dice.below(3));
      const auto size = static_cast<size_t>(job.gang_size);
      gang_of[world.submit(job)] = {base::format("{}/{}", job.gang, size), size};
    }
    if (dice.chance(50)) world.submit(random_job(dice, 3));
    world.pass();
    for (const std::vector<Start>& starts : world.last_starts) {
      const auto first = gang_of.find(starts.front().task);
      RC_ASSERT(starts.size() == (first == gang_of.end() ? 1U : first->second.second));
      std::set<model::TaskArn> different;
      for (const Start& start : starts) {
        different.insert(start.task);
        if (starts.size() > 1) RC_ASSERT(gang_of.at(start.task) == first->second);
      }
      RC_ASSERT(different.size() == starts.size());
    }
    model::check_invariants(world.state);
    world.pass_time(std::min(world.next_end(), world.now + seconds(dice.below(200))));
  }
}

// Two groups that always want more than there is get equal parts, however they split their work.
RC_GTEST_PROP(QueueProperty, groups_that_want_more_share_equally, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  for (int i = 0; i < 4; ++i) world.add(base::format("{}", i), 4);
  const uint64_t head_start = dice.below(60);
  const auto submit = [&](uint32_t gpus, const std::string& group) {
    const base::Milliseconds runs = seconds(10 + dice.below(60));
    world.submit(
        {.request = asks_mostly_gpus(gpus, group), .runs = runs, .tags = {max_seconds(runs)}});
  };
  for (uint64_t i = 0; i < head_start; ++i) submit(1, "family:a");
  world.pass();
  double held_a = 0;
  double held_b = 0;
  const base::Time settled = world.now + minutes(2);
  const base::Time end = world.now + minutes(12);
  while (world.now < end) {
    const auto waiting_of = [&](const std::string& group) {
      return std::ranges::count(world.waiting, group, &WaitingTask::share);
    };
    while (waiting_of("family:a") < 30) {
      submit(1, "family:a");
    }
    while (waiting_of("family:b") < 5) {
      submit(2, "family:b");
    }
    world.pass();
    const base::Time next = std::min(world.next_end(), world.now + seconds(10));
    if (world.now >= settled) {
      const double span = std::chrono::duration<double>(next - world.now).count();
      for (const auto& [arn, task] : world.state.tasks) {
        if (task.waiting) continue;
        (task.group == "family:a" ? held_a : held_b) +=
            span * static_cast<double>(task.held.gpus.size());
      }
    }
    world.pass_time(next);
  }
  RC_ASSERT(held_a > 0.7 * held_b);
  RC_ASSERT(held_b > 0.7 * held_a);
}

// In each pass nothing starts for want of which a task of higher priority and equal size waits.
RC_GTEST_PROP(QueueProperty, no_lower_priority_starts_before_an_equal_task, (uint32_t seed)) {
  base::Random dice(seed);
  World world;
  add_instances(world, dice, 4);
  std::map<model::TaskArn, std::pair<int32_t, int32_t>> known;  // GPUs and priority.
  for (int step = 0; step < 40; ++step) {
    for (uint64_t i = dice.below(6); i > 0; --i) {
      Job job{.request = asks_mostly_gpus(1 + static_cast<uint32_t>(dice.below(3))),
              .runs = seconds(1 + dice.below(300))};
      const auto priority = static_cast<int32_t>(dice.below(3));
      job.tags.push_back(tag(priority_tag, base::format("{}", priority)));
      const auto gpus = static_cast<int32_t>(job.request.resources.gpus[0].count);
      known[world.submit(job)] = {gpus, priority};
    }
    const Outcome outcome = world.pass();
    for (const auto& starts : world.last_starts) {
      const auto [gpus, priority] = known.at(starts.front().task);
      for (const Verdict& verdict : outcome.waiting) {
        const auto [wanted, higher] = known.at(verdict.task);
        RC_ASSERT(wanted != gpus || higher <= priority);
      }
    }
    world.pass_time(std::min(world.next_end(), world.now + seconds(dice.below(100))));
  }
}

}  // namespace
}  // namespace reconcile::queue::testing
