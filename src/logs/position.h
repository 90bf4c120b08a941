// Where an event stands in its stream or group, and the tokens that name such places.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace logs {

// Events sort by timestamp, then by arrival. `id` counts the store's events upward from 1 in the
// order of their arrival and is never given twice.
struct Position {
  int64_t timestamp = 0;  // Milliseconds since 1970-01-01 UTC.
  int64_t id = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

// 56 decimal digits that sort as text just as positions do: FilterLogEvents' eventId, unique and
// stable. Neither number may be negative.
std::string event_id(Position position);

enum class Direction : uint8_t { Forward, Backward };

// GetLogEvents' nextForwardToken and nextBackwardToken: "the events behind `position`" and "the
// events before it". Both exclude the position itself.
struct Cursor {
  Direction direction = Direction::Forward;
  Position position = {};
  friend bool operator==(const Cursor&, const Cursor&) = default;
};

// "f/<56 digits>/s" or "b/<56 digits>/s", the look of CloudWatch Logs' own.
std::string cursor_token(const Cursor& cursor);
// nullopt for a text that cursor_token cannot have made.
std::optional<Cursor> parse_cursor_token(std::string_view token);
// FilterLogEvents' nextToken is the event_id of the last event looked at.
std::optional<Position> parse_event_id(std::string_view text);

}  // namespace logs
