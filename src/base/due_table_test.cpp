#include "base/due_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace base {
namespace {

using ::testing::ElementsAre;

Time at(int64_t milliseconds) {
  return Time(Milliseconds(milliseconds));
}

TEST(DueTable, gives_what_is_due_the_longest_first) {
  DueTable<std::string> table;
  EXPECT_EQ(table.next(), Time::max());
  table.set("b", at(20));
  table.set("a", at(20));
  table.set("c", at(10));
  table.set("late", at(30));
  EXPECT_EQ(table.next(), at(10));
  EXPECT_EQ(table.first(), "c");
  EXPECT_THAT(table.due(at(20)), ElementsAre("c", "a", "b"));
  EXPECT_THAT(table.due(at(9)), ElementsAre());
}

TEST(DueTable, has_one_time_for_each_key) {
  DueTable<std::string> table;
  table.set("a", at(20));
  table.set_no_later("a", at(30));
  EXPECT_EQ(table.next(), at(20));
  table.set_no_later("a", at(10));
  EXPECT_EQ(table.next(), at(10));
  table.set("a", at(40));
  EXPECT_THAT(table.due(at(39)), ElementsAre());
  EXPECT_THAT(table.due(at(40)), ElementsAre("a"));
  table.erase("a");
  table.erase("a");
  EXPECT_TRUE(table.empty());
  EXPECT_FALSE(table.contains("a"));
  EXPECT_EQ(table.next(), Time::max());
}

}  // namespace
}  // namespace base
