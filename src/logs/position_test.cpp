#include "logs/position.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>

namespace logs {
namespace {

Position any_position() {
  constexpr int64_t limit = std::numeric_limits<int64_t>::max();
  return {.timestamp = *rc::gen::inRange<int64_t>(0, limit),
          .id = *rc::gen::inRange<int64_t>(0, limit)};
}

RC_GTEST_PROP(position, tokens_read_back_as_they_were_written, ()) {
  const Cursor cursor{.direction = *rc::gen::element(Direction::Forward, Direction::Backward),
                      .position = any_position()};
  RC_ASSERT(parse_cursor_token(cursor_token(cursor)) == cursor);
  RC_ASSERT(parse_event_id(event_id(cursor.position)) == cursor.position);
}

RC_GTEST_PROP(position, event_ids_sort_as_positions_do, ()) {
  const Position left = any_position();
  const Position right = any_position();
  RC_ASSERT((event_id(left) < event_id(right)) == (left < right));
}

TEST(position, an_event_id_has_56_digits) {
  EXPECT_EQ(event_id({.timestamp = 1'769'860'800'000, .id = 42}),
            "00000001769860800000000000000000000000000000000000000042");
}

TEST(position, other_texts_are_no_tokens) {
  const std::string good = cursor_token({.direction = Direction::Forward, .position = {1, 2}});
  ASSERT_TRUE(parse_cursor_token(good));
  const std::string digits = event_id({1, 2});
  for (const std::string& bad :
       {std::string(), std::string("f"), std::string("f/"), "f/" + digits, "g/" + digits + "/s",
        digits, "f/" + digits + "1/s", "f/" + digits.substr(1) + "/s",
        "f/-" + digits.substr(1) + "/s", "f/" + std::string(56, '9') + "/s",
        "f/" + std::string(56, ' ') + "/s", good + "s"}) {
    EXPECT_FALSE(parse_cursor_token(bad)) << bad;
  }
  EXPECT_FALSE(parse_event_id(std::string(56, 'x')));
  EXPECT_FALSE(parse_event_id(std::string(56, '9')));
}

}  // namespace
}  // namespace logs
