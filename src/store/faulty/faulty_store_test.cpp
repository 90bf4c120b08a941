#include "store/faulty/faulty_store.h"

#include <gtest/gtest.h>

#include <map>

#include "store/memory/memory_store.h"
#include "store/testing_wait.h"

namespace store {
namespace {

const Batch one_put = {.puts = {{"a", "1"}}, .deletes = {}};

struct World {
  explicit World(const Faults& faults) : faulty(inner, 7, {}) {
    epoch = faulty.campaign("here", at_once).value();
    faulty.set_faults(faults);
  }

  MemoryDisk disk;
  MemoryStore inner{disk};
  FaultyStore faulty;
  uint64_t epoch = 0;
};

TEST(FaultyStore, an_unknown_commit_may_be_absent_present_or_on_its_way) {
  World absent({.commit_not_written = 100});
  EXPECT_EQ(absent.faulty.commit(absent.epoch, one_put), CommitOutcome::Unknown);
  EXPECT_EQ(absent.faulty.last_error().code, "InjectedFault");
  EXPECT_TRUE(absent.disk.records.empty());

  World present({.commit_written = 100});
  EXPECT_EQ(present.faulty.commit(present.epoch, one_put), CommitOutcome::Unknown);
  EXPECT_EQ(present.disk.records.size(), 1U);

  World late({.commit_late = 100});
  EXPECT_EQ(late.faulty.commit(late.epoch, one_put), CommitOutcome::Unknown);
  EXPECT_TRUE(late.disk.records.empty());
  EXPECT_EQ(late.faulty.load().value().size(), 1U);
}

TEST(FaultyStore, leadership_lost_in_a_commit_leaves_nothing_written) {
  World world({.lost_leadership = 100});
  EXPECT_EQ(world.faulty.commit(world.epoch, one_put), CommitOutcome::LostLeadership);
  EXPECT_EQ(world.faulty.last_error().code, "NotLeader");
  EXPECT_TRUE(world.disk.records.empty());
  EXPECT_TRUE(world.inner.campaign("another", at_once));
}

TEST(FaultyStore, a_crash_happens_at_the_nth_commit_and_lasts_until_the_restart) {
  for (const bool after : {false, true}) {
    World world(after ? Faults{.crash_after_commit = 2} : Faults{.crash_before_commit = 2});
    EXPECT_EQ(world.faulty.commit(world.epoch, {}), CommitOutcome::Committed);
    EXPECT_EQ(world.faulty.commit(world.epoch, one_put), CommitOutcome::Unknown);
    EXPECT_TRUE(world.faulty.crashed());
    EXPECT_EQ(world.disk.records.size(), after ? 1U : 0U);
    EXPECT_EQ(world.faulty.commit(world.epoch, {}), CommitOutcome::Unknown);
    EXPECT_EQ(world.faulty.renew(world.epoch), RenewOutcome::Unknown);
    EXPECT_FALSE(world.faulty.load());
    EXPECT_FALSE(world.faulty.campaign("here", at_once));
    EXPECT_FALSE(world.faulty.watch_leader(0, at_once));
    world.faulty.restart();
    EXPECT_TRUE(world.faulty.campaign("here", at_once));
    EXPECT_EQ(world.faulty.load().value().size(), after ? 1U : 0U);
  }
}

TEST(FaultyStore, the_other_calls_fail_as_told) {
  World world({.campaign_fails = 100, .load_fails = 100, .renew_unknown = 100});
  EXPECT_EQ(world.faulty.campaign("here", at_once).error().code, "InjectedFault");
  EXPECT_EQ(world.faulty.load().error().code, "InjectedFault");
  EXPECT_EQ(world.faulty.renew(world.epoch), RenewOutcome::Unknown);
}

TEST(FaultyStore, every_call_is_delayed) {
  MemoryDisk disk;
  MemoryStore inner(disk);
  int delays = 0;
  FaultyStore faulty(inner, 1, {}, [&] { ++delays; });
  const uint64_t epoch = faulty.campaign("here", at_once).value();
  faulty.commit(epoch, one_put);
  EXPECT_EQ(faulty.load().value().size(), 1U);
  EXPECT_EQ(delays, 3);
}

// A client that does what the contract says: on anything but Committed, campaign and load.
TEST(FaultyStore, a_client_that_reloads_loses_nothing_under_any_seed) {
  const Faults faults = {.commit_not_written = 10,
                         .commit_written = 10,
                         .commit_late = 10,
                         .lost_leadership = 10,
                         .campaign_fails = 20,
                         .load_fails = 20,
                         .renew_unknown = 20};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    MemoryDisk disk;
    MemoryStore inner(disk);
    FaultyStore faulty(inner, seed, faults);
    std::map<std::string, std::string> memory;
    std::optional<uint64_t> epoch;
    for (int i = 0; i < 100; ++i) {
      if (!epoch) {
        const auto won = faulty.campaign("here", at_once);
        const auto records = faulty.load();
        if (!won || !records) continue;
        epoch = *won;
        std::map<std::string, std::string> loaded;
        for (const Record& record : *records) loaded[record.key] = record.value;
        for (const auto& [key, value] : memory) ASSERT_EQ(loaded[key], value) << seed;
        memory = std::move(loaded);
      }
      const Put put = {"task/" + std::to_string(i), std::to_string(seed)};
      if (faulty.commit(*epoch, {.puts = {put}}) == CommitOutcome::Committed) {
        memory[put.key] = put.value;
      } else {
        epoch.reset();
      }
    }
    ASSERT_GT(memory.size(), 30U) << seed;
  }
}

TEST(FaultyStore, the_same_seed_fails_in_the_same_places) {
  const auto outcomes = [](uint64_t seed) {
    MemoryDisk disk;
    MemoryStore inner(disk);
    FaultyStore faulty(inner, seed, {.commit_not_written = 50});
    const uint64_t epoch = faulty.campaign("here", at_once).value();
    std::vector<CommitOutcome> seen;
    for (int i = 0; i < 64; ++i) seen.push_back(faulty.commit(epoch, one_put));
    return seen;
  };
  EXPECT_EQ(outcomes(3), outcomes(3));
  EXPECT_NE(outcomes(3), outcomes(4));
}

}  // namespace
}  // namespace store
