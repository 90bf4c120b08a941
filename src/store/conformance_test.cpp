// What every engine must do, run on each of them.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

#include "store/faulty/faulty_store.h"
#include "store/memory/memory_store.h"
#include "store/sqlite/sqlite_store.h"
#include "store/store.h"
#include "store/temporary_directory.h"
#include "store/testing_wait.h"

namespace store {
namespace {

// An engine with its durable part.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual Store& store() = 0;
  // The process ends and starts again.
  virtual void reopen() = 0;
};

class MemoryEngine final : public Engine {
 public:
  Store& store() override { return *store_; }
  void reopen() override { store_ = std::make_unique<MemoryStore>(disk_); }

 private:
  MemoryDisk disk_;
  std::unique_ptr<MemoryStore> store_ = std::make_unique<MemoryStore>(disk_);
};

class SqliteEngine final : public Engine {
 public:
  SqliteEngine() { reopen(); }
  Store& store() override { return *store_; }
  void reopen() override {
    store_.reset();
    auto opened = SqliteStore::open(directory_.file("records.db"));
    CHECK(opened);
    store_ = std::move(*opened);
  }

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<SqliteStore> store_;
};

class FaultyEngine final : public Engine {
 public:
  Store& store() override { return *store_; }
  void reopen() override {
    inner_.reopen();
    store_ = std::make_unique<FaultyStore>(inner_.store(), 1, Faults{});
  }

 private:
  MemoryEngine inner_;
  std::unique_ptr<FaultyStore> store_ = std::make_unique<FaultyStore>(inner_.store(), 1, Faults{});
};

struct Kind {
  const char* name;
  std::function<std::unique_ptr<Engine>()> make;
};

class Conformance : public ::testing::TestWithParam<Kind> {
 protected:
  Store& store() { return engine_->store(); }
  uint64_t lead() {
    const auto epoch = store().campaign("here:1", at_once);
    CHECK(epoch);
    return *epoch;
  }
  std::vector<Record> load() {
    auto records = store().load();
    CHECK(records);
    return std::move(*records);
  }

  std::unique_ptr<Engine> engine_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(
    Engines, Conformance,
    ::testing::Values(Kind{"memory", [] { return std::make_unique<MemoryEngine>(); }},
                      Kind{"sqlite", [] { return std::make_unique<SqliteEngine>(); }},
                      Kind{"faulty", [] { return std::make_unique<FaultyEngine>(); }}),
    [](const auto& kind) { return kind.param.name; });

TEST_P(Conformance, a_new_store_is_empty_and_nobody_leads) {
  EXPECT_TRUE(load().empty());
  EXPECT_EQ(store().watch_leader(0, at_once).value(), std::nullopt);
}

TEST_P(Conformance, what_was_committed_is_loaded_in_the_order_of_the_keys) {
  const uint64_t epoch = lead();
  ASSERT_EQ(store().commit(epoch, {.puts = {{"task/b", "2"}, {"task/a", "1"}, {"task", "0"}}}),
            CommitOutcome::Committed);
  const std::vector<Record> expected = {{"task", "0"}, {"task/a", "1"}, {"task/b", "2"}};
  EXPECT_EQ(load(), expected);
  engine_->reopen();
  EXPECT_EQ(load(), expected);
}

TEST_P(Conformance, a_put_replaces_and_a_delete_removes) {
  const uint64_t epoch = lead();
  store().commit(epoch, {.puts = {{"a", "1"}, {"b", "1"}, {"c", "1"}}});
  ASSERT_EQ(store().commit(epoch, {.puts = {{"b", "2"}}, .deletes = {"a", "never there"}}),
            CommitOutcome::Committed);
  EXPECT_EQ(load(), (std::vector<Record>{{"b", "2"}, {"c", "1"}}));
}

TEST_P(Conformance, any_bytes_are_kept_and_ordered_as_bytes) {
  const std::vector<Record> records = {
      {"", "empty key"}, {std::string("\0", 1), std::string("\0\xff\0", 3)},
      {"A", ""},         {"a", "x"},
      {"a/\x7f", "del"}, {"ä", "größe"},
      {"\xff", "last"}};
  ASSERT_EQ(store().commit(lead(), {.puts = {records.rbegin(), records.rend()}}),
            CommitOutcome::Committed);
  EXPECT_EQ(load(), records);
  engine_->reopen();
  EXPECT_EQ(load(), records);
}

TEST_P(Conformance, large_batches_and_large_values_are_kept) {
  Batch batch;
  for (int i = 0; i < 10'000; ++i) batch.puts.push_back({std::to_string(i), std::string(100, 'x')});
  batch.puts.push_back({"large", std::string(3 << 20, 'l')});
  ASSERT_EQ(store().commit(lead(), batch), CommitOutcome::Committed);
  const auto records = load();
  ASSERT_EQ(records.size(), 10'001U);
  EXPECT_EQ(records.back().value.size(), size_t{3} << 20);
}

TEST_P(Conformance, a_commit_without_a_campaign_is_refused_and_says_why) {
  EXPECT_EQ(store().commit(1, {.puts = {{"a", "1"}}}), CommitOutcome::LostLeadership);
  EXPECT_EQ(store().last_error().code, "NotLeader");
  EXPECT_FALSE(store().last_error().message.empty());
  EXPECT_TRUE(load().empty());
}

TEST_P(Conformance, an_old_epoch_cannot_write_once_a_new_one_leads) {
  const uint64_t first = lead();
  const uint64_t second = lead();
  EXPECT_GT(second, first);
  EXPECT_EQ(store().commit(first, {.puts = {{"a", "old"}}}), CommitOutcome::LostLeadership);
  EXPECT_EQ(store().commit(second + 1, {.puts = {{"a", "never"}}}), CommitOutcome::LostLeadership);
  EXPECT_EQ(store().commit(second, {.puts = {{"a", "new"}}}), CommitOutcome::Committed);
  EXPECT_EQ(load(), (std::vector<Record>{{"a", "new"}}));
}

TEST_P(Conformance, epochs_grow_over_resignations_and_restarts) {
  uint64_t last = 0;
  for (int i = 0; i < 3; ++i) {
    const uint64_t epoch = lead();
    EXPECT_GT(epoch, last);
    last = epoch;
    if (i == 0) store().resign(epoch);
    engine_->reopen();
  }
}

TEST_P(Conformance, after_a_resignation_nobody_leads) {
  const uint64_t epoch = lead();
  store().resign(epoch + 1);  // Not ours: nothing happens.
  EXPECT_EQ(store().renew(epoch), RenewOutcome::Renewed);
  EXPECT_EQ(store().watch_leader(0, at_once).value(), (Leader{epoch, "here:1"}));
  store().resign(epoch);
  EXPECT_EQ(store().renew(epoch), RenewOutcome::Lost);
  EXPECT_EQ(store().last_error().code, "NotLeader");
  EXPECT_EQ(store().commit(epoch, {.puts = {{"a", "1"}}}), CommitOutcome::LostLeadership);
  EXPECT_EQ(store().watch_leader(epoch, at_once).value(), std::nullopt);
}

TEST_P(Conformance, an_empty_batch_asks_who_leads) {
  const uint64_t epoch = lead();
  EXPECT_EQ(store().commit(epoch, {}), CommitOutcome::Committed);
  EXPECT_EQ(store().commit(epoch - 1, {}), CommitOutcome::LostLeadership);
}

using ConformanceDeathTest = Conformance;
INSTANTIATE_TEST_SUITE_P(
    Engines, ConformanceDeathTest,
    ::testing::Values(Kind{"memory", [] { return std::make_unique<MemoryEngine>(); }},
                      Kind{"sqlite", [] { return std::make_unique<SqliteEngine>(); }}),
    [](const auto& kind) { return kind.param.name; });

TEST_P(ConformanceDeathTest, two_operations_on_one_key_abort) {
  const uint64_t epoch = lead();
  EXPECT_DEATH(store().commit(epoch, {.puts = {{"a", "1"}, {"a", "2"}}}), "CHECK");
  EXPECT_DEATH(store().commit(epoch, {.puts = {{"a", "1"}}, .deletes = {"a"}}), "CHECK");
}

// Any sequence of commits, restarts and new leaders ends as it does in a map.
TEST_P(Conformance, random_histories_end_as_in_a_map) {
  const bool held = rc::check([this] {
    engine_ = GetParam().make();
    std::map<std::string, std::string> model;
    uint64_t epoch = lead();
    const auto steps = *rc::gen::inRange(1, 12);
    for (int step = 0; step < steps; ++step) {
      const int choice = *rc::gen::inRange(0, 10);
      if (choice == 0) {
        engine_->reopen();
        epoch = lead();
      } else if (choice == 1) {
        epoch = lead();
      } else {
        Batch batch;
        for (int k = 0; k < 12; ++k) {
          const std::string key = "k/" + std::to_string(k);
          const int fate = *rc::gen::inRange(0, 4);  // From 2 on: it stays as it is.
          if (fate == 0) {
            batch.deletes.push_back(key);
            model.erase(key);
          } else if (fate == 1) {
            batch.puts.push_back({key, *rc::gen::arbitrary<std::string>()});
            model[key] = batch.puts.back().value;
          }
        }
        RC_ASSERT(store().commit(epoch, batch) == CommitOutcome::Committed);
      }
      std::vector<Record> expected;
      for (const auto& [key, value] : model) expected.push_back({key, value});
      RC_ASSERT(load() == expected);
    }
  });
  EXPECT_TRUE(held);
}

}  // namespace
}  // namespace store
