#include "cli/terminal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cli {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Wrapped, lines_end_at_blanks_and_a_long_word_is_left_whole) {
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("GPU-0123456789 is a  long one", 10),
              ElementsAre("GPU-0123456789", "is a long", "one"));
  EXPECT_THAT(wrapped("  ", 7), IsEmpty());
}

TEST(SpanText, has_one_unit_that_says_enough) {
  EXPECT_EQ(span_text(-5s), "0 s");
  EXPECT_EQ(span_text(119s), "119 s");
  EXPECT_EQ(span_text(120s), "2 min");
  EXPECT_EQ(span_text(2h), "2 h");
  EXPECT_EQ(span_text(48h), "2 days");
}

}  // namespace
}  // namespace cli
