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
      .runtime_id = "c", .next_event = 9, .since_ns = 1, .since_count = 2, .newest_ns = 3};
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

}  // namespace
}  // namespace agent
