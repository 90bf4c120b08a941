#include "logs/position.h"

#include "base/format.h"
#include "base/text.h"

namespace logs {
namespace {

constexpr size_t timestamp_digits = 20;
constexpr size_t event_id_digits = 56;

std::optional<int64_t> parse_digits(std::string_view digits) {
  if (digits.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  return base::parse_number<int64_t>(digits);
}

}  // namespace

std::string event_id(Position position) {
  return base::format("{:020}{:036}", position.timestamp, position.id);
}

std::optional<Position> parse_event_id(std::string_view text) {
  if (text.size() != event_id_digits) return std::nullopt;
  const auto timestamp = parse_digits(text.substr(0, timestamp_digits));
  const auto id = parse_digits(text.substr(timestamp_digits));
  if (!timestamp || !id) return std::nullopt;
  return Position{.timestamp = *timestamp, .id = *id};
}

std::string cursor_token(const Cursor& cursor) {
  const char letter = cursor.direction == Direction::Forward ? 'f' : 'b';
  return base::format("{}/{}/s", letter, event_id(cursor.position));
}

std::optional<Cursor> parse_cursor_token(std::string_view token) {
  Cursor cursor;
  if (token.starts_with("f/")) {
    cursor.direction = Direction::Forward;
  } else if (token.starts_with("b/")) {
    cursor.direction = Direction::Backward;
  } else {
    return std::nullopt;
  }
  token.remove_prefix(2);
  if (!token.ends_with("/s")) return std::nullopt;
  token.remove_suffix(2);
  const auto position = parse_event_id(token);
  if (!position) return std::nullopt;
  cursor.position = *position;
  return cursor;
}

}  // namespace logs
