#include "store/memory/memory_store.h"

#include <gtest/gtest.h>

#include "store/testing_wait.h"

namespace store {
namespace {

TEST(MemoryStore, of_two_control_planes_one_leads_until_its_lease_runs_out) {
  MemoryDisk disk;
  MemoryStore first(disk);
  MemoryStore second(disk);
  const uint64_t old_epoch = first.campaign("first:1", at_once).value();
  const auto refused = second.campaign("second:1", at_once);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error(), (base::Error{"NotLeader", "first:1 leads."}));
  EXPECT_EQ(second.watch_leader(0, at_once).value()->candidate, "first:1");

  disk.expire_leader();
  const uint64_t new_epoch = second.campaign("second:1", at_once).value();
  EXPECT_GT(new_epoch, old_epoch);
  EXPECT_EQ(first.renew(old_epoch), RenewOutcome::Lost);
  EXPECT_EQ(first.commit(old_epoch, {.puts = {{"a", "stale"}}}), CommitOutcome::LostLeadership);
  EXPECT_EQ(first.last_error().message, "Epoch 1 is over: second:1 leads with epoch 2.");
  EXPECT_EQ(second.commit(new_epoch, {.puts = {{"a", "fresh"}}}), CommitOutcome::Committed);
  EXPECT_EQ(first.load().value(), (std::vector<Record>{{"a", "fresh"}}));
}

}  // namespace
}  // namespace store
