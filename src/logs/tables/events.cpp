#include "logs/tables/events.h"

#include <array>

namespace logs {
namespace {

// The places in Events::statements_.
enum EventQuery : uint8_t {
  ReadNextId,
  AddToNextId,
  InsertEvent,
  ForwardEvents,
  BackwardEvents,
  KeysOfStream,
  KeysOfGroup,
  ReadEvent,
  FirstTimestamp,
  RemoveEvent,
  EventQueryCount,
};

#define EVENT_COLUMNS "timestamp, id, stream_id, ingestion_time, message"
#define IN_RANGE "(timestamp, id) > (?2, ?3) AND (timestamp, id) < (?4, ?5)"

constexpr std::array<const char*, EventQueryCount> event_queries = {
    "SELECT id FROM next_event",
    "UPDATE next_event SET id = id + ?",
    "INSERT INTO event(stream_id, timestamp, id, group_id, ingestion_time, message) "
    "VALUES(?, ?, ?, ?, ?, ?)",
    "SELECT " EVENT_COLUMNS " FROM event WHERE stream_id = ?1 AND " IN_RANGE
    " ORDER BY timestamp, id",
    "SELECT " EVENT_COLUMNS " FROM event WHERE stream_id = ?1 AND " IN_RANGE
    " ORDER BY timestamp DESC, id DESC",
    "SELECT timestamp, id, stream_id FROM event WHERE stream_id = ?1 "
    "AND " IN_RANGE " ORDER BY timestamp, id LIMIT ?6",
    "SELECT timestamp, id, stream_id FROM event INDEXED BY event_by_group WHERE group_id = ?1 "
    "AND " IN_RANGE " ORDER BY timestamp, id LIMIT ?6",
    "SELECT " EVENT_COLUMNS " FROM event WHERE stream_id = ? AND timestamp = ? AND id = ?",
    "SELECT timestamp FROM event WHERE stream_id = ? "
    "ORDER BY timestamp LIMIT 1",
    "DELETE FROM event WHERE stream_id = ? AND timestamp = ? AND id = ?",
};
#undef EVENT_COLUMNS
#undef IN_RANGE

void bind_range(sqlite::Statement& statement, int64_t id, const Range& range) {
  statement.bind_int64(1, id)
      .bind_int64(2, range.lower.timestamp)
      .bind_int64(3, range.lower.id)
      .bind_int64(4, range.upper.timestamp)
      .bind_int64(5, range.upper.id);
}

sqlite::Statement& bind_key(sqlite::Statement& statement, const EventKey& key) {
  return statement.bind_int64(1, key.stream_id)
      .bind_int64(2, key.position.timestamp)
      .bind_int64(3, key.position.id);
}

Event read_event_row(const sqlite::Statement& row) {
  return {.position = {.timestamp = row.column_int64(0), .id = row.column_int64(1)},
          .stream_id = row.column_int64(2),
          .ingestion_time = row.column_int64(3),
          .message = std::string(row.column_text(4))};
}

}  // namespace

std::span<const char* const> Events::sql() {
  return event_queries;
}

base::Result<Events> Events::prepare(sqlite::Database& database) {
  Events events;
  events.statements_.reserve(event_queries.size());
  for (const char* sql : event_queries) events.statements_.push_back(TRY(database.prepare(sql)));
  return events;
}

base::Result<int64_t> Events::next_id() {
  sqlite::Statement& row = statements_[ReadNextId];
  if (!TRY(row.step())) return row.damaged("the number of the next event is gone");
  const int64_t id = row.column_int64(0);
  row.reset();
  return id;
}

base::Result<int64_t> Events::reserve_ids(int64_t count) {
  const int64_t first = TRY(next_id());
  TRY_VOID(statements_[AddToNextId].bind_int64(1, count).run());
  return first;
}

base::Result<void> Events::insert(const EventKey& key, int64_t group_id, int64_t ingestion_time,
                                  std::string_view message) {
  return bind_key(statements_[InsertEvent], key)
      .bind_int64(4, group_id)
      .bind_int64(5, ingestion_time)
      .bind_text(6, message)
      .run();
}

base::Result<void> Events::visit(int64_t stream_id, const Range& range, Direction direction,
                                 const std::function<bool(Event&)>& visit) {
  sqlite::Statement& row =
      statements_[direction == Direction::Forward ? ForwardEvents : BackwardEvents];
  bind_range(row, stream_id, range);
  while (TRY(row.step())) {
    Event event = read_event_row(row);
    if (!visit(event)) {
      row.reset();
      break;
    }
  }
  return {};
}

base::Result<std::vector<EventKey>> Events::keys(Scope scope, int64_t id, const Range& range,
                                                 int64_t limit) {
  std::vector<EventKey> keys;
  sqlite::Statement& row = statements_[scope == Scope::Stream ? KeysOfStream : KeysOfGroup];
  bind_range(row, id, range);
  row.bind_int64(6, limit);
  while (TRY(row.step())) {
    keys.push_back({.position = {.timestamp = row.column_int64(0), .id = row.column_int64(1)},
                    .stream_id = row.column_int64(2)});
  }
  return keys;
}

base::Result<Event> Events::read(const EventKey& key) {
  sqlite::Statement& row = bind_key(statements_[ReadEvent], key);
  if (!TRY(row.step())) return row.damaged("its index names an event that is not there");
  Event event = read_event_row(row);
  row.reset();
  return event;
}

base::Result<std::optional<int64_t>> Events::first_timestamp(int64_t stream_id) {
  sqlite::Statement& row = statements_[FirstTimestamp].bind_int64(1, stream_id);
  if (!TRY(row.step())) return std::nullopt;
  const int64_t timestamp = row.column_int64(0);
  row.reset();
  return timestamp;
}

base::Result<void> Events::remove(const EventKey& key) {
  return bind_key(statements_[RemoveEvent], key).run();
}

}  // namespace logs
