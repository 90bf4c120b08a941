#include "agent/journal.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include "agent/testing.h"

namespace agent {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

class JournalTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return directory_.path() / "agent.db"; }
  testing::TemporaryDirectory directory_;
};

TEST_F(JournalTest, what_was_committed_is_there_when_it_is_opened_again) {
  const LogPosition position{
      .runtime_id = "c", .next_event = 9, .last = LineMark{.time_ns = 3, .hash = ~uint64_t{0}}};
  {
    auto journal = Journal::open(file()).value();
    ASSERT_TRUE(
        journal
            ->commit({.records = {{"b", "1"}, {"a", "2"}, {"c", "3"}},
                      .log_positions = {{{"t", "main"}, position}, {{"t", "side"}, LogPosition{}}}})
            .has_value());
    ASSERT_TRUE(journal
                    ->commit({.records = {{"b", "4"}, {"c", std::nullopt}},
                              .log_positions = {{{"t", "side"}, std::nullopt}}})
                    .has_value());
    ASSERT_TRUE(journal->set_setting("name", "value").has_value());
  }
  auto journal = Journal::open(file()).value();
  std::map<std::string, std::string> records;
  for (const auto& record : journal->records().value()) records[record.key] = record.value;
  EXPECT_THAT(records, ElementsAre(Pair("a", "2"), Pair("b", "4")));
  EXPECT_THAT(journal->log_positions().value(), ElementsAre(Pair(LogKey{"t", "main"}, position)));
  EXPECT_EQ(journal->setting("name").value(), "value");
  EXPECT_EQ(journal->setting("other").value(), std::nullopt);
}

TEST_F(JournalTest, only_one_can_have_it_open_and_only_its_owner_can_read_it) {
  auto journal = Journal::open(file()).value();
  const auto second = Journal::open(file());
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code, "Busy");
  EXPECT_THAT(second.error().message, ::testing::HasSubstr("data directory of its own"));
  struct stat status{};
  ASSERT_EQ(stat(file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
}

TEST_F(JournalTest, one_of_another_version_is_refused) {
  {
    auto database = sqlite::Database::open(file().string(), {}).value();
    ASSERT_TRUE(database->set_user_version(7).has_value());
  }
  const auto journal = Journal::open(file());
  ASSERT_FALSE(journal.has_value());
  EXPECT_THAT(journal.error().message, ::testing::HasSubstr("format 7"));
}

TEST_F(JournalTest, positions_of_an_older_agent_are_known_by_the_time_of_their_last_line) {
  {
    auto database = sqlite::Database::open(file().string(), {}).value();
    ASSERT_TRUE(database
                    ->execute(R"(
CREATE TABLE records(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log_positions(
  task TEXT NOT NULL, container TEXT NOT NULL, runtime_id TEXT NOT NULL,
  next_event INTEGER NOT NULL, since_ns INTEGER NOT NULL, since_count INTEGER NOT NULL,
  newest_ns INTEGER NOT NULL, PRIMARY KEY(task, container)) WITHOUT ROWID;
INSERT INTO log_positions VALUES('t', 'main', 'c', 9, 1, 2, 3), ('t', 'side', 'd', 0, 0, 0, 0);
PRAGMA user_version=1;)")
                    .has_value());
  }
  auto journal = Journal::open(file()).value();
  const LogPosition known{.runtime_id = "c", .next_event = 9, .last = LineMark{.time_ns = 3}};
  EXPECT_THAT(journal->log_positions().value(),
              ElementsAre(Pair(LogKey{"t", "main"}, known),
                          Pair(LogKey{"t", "side"}, LogPosition{.runtime_id = "d"})));
}

TEST_F(JournalTest, a_journal_that_lost_its_last_commits_is_refused) {
  const std::string path = file().string();
  {
    const auto journal = Journal::open(file()).value();
    const std::vector<core::JournalWrite> one{{"task/1", "running"}};
    ASSERT_TRUE(journal->commit({.records = one, .log_positions = {}}));
    std::filesystem::copy_file(path, path + ".older");
    ASSERT_TRUE(journal->commit({.records = one, .log_positions = {}}));
  }
  std::filesystem::rename(path + ".older", path);
  const auto journal = Journal::open(file());
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message, ::testing::HasSubstr("acknowledged"));
}

}  // namespace
}  // namespace agent
