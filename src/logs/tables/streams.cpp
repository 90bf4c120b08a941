#include "logs/tables/streams.h"

#include <algorithm>
#include <array>
#include <limits>

namespace logs {
namespace {

// The places in Streams::statements_.
enum StreamQuery : uint8_t {
  StreamByName,
  StreamById,
  StreamsByName,
  StreamsByNameDescending,
  StreamsByLastEvent,
  StreamsByLastEventDescending,
  InsertStream,
  UpdateStream,
  RemoveStream,
  LeaveStreamEvents,
  FindWriter,
  AddWriter,
  RemoveWriters,
  StreamQueryCount,
};

#define STREAM_COLUMNS                                                               \
  "id, group_id, name, creation_time, first_event_timestamp, last_event_timestamp, " \
  "last_ingestion_time, stored_bytes, next_position"

constexpr std::array<const char*, StreamQueryCount> stream_queries = {
    "SELECT " STREAM_COLUMNS " FROM log_stream WHERE group_id = ? AND name = ?",
    "SELECT " STREAM_COLUMNS " FROM log_stream WHERE id = ?",
    "SELECT " STREAM_COLUMNS " FROM log_stream WHERE group_id = ?1 AND name >= ?2 ORDER BY name",
    "SELECT " STREAM_COLUMNS
    " FROM log_stream WHERE group_id = ?1 AND name < ?2 AND name >= ?3 ORDER BY name DESC",
    "SELECT " STREAM_COLUMNS
    " FROM log_stream WHERE group_id = ?1 AND (last_event_timestamp, name) > (?2, ?3) "
    "ORDER BY last_event_timestamp, name",
    "SELECT " STREAM_COLUMNS
    " FROM log_stream WHERE group_id = ?1 AND (last_event_timestamp, name) < (?2, ?3) "
    "ORDER BY last_event_timestamp DESC, name DESC",
    "INSERT INTO log_stream(group_id, name, creation_time, first_event_timestamp, "
    "last_event_timestamp, last_ingestion_time, stored_bytes) VALUES(?, ?, ?, -1, -1, -1, 0)",
    "UPDATE log_stream SET first_event_timestamp = ?2, last_event_timestamp = ?3, "
    "last_ingestion_time = ?4, stored_bytes = ?5, next_position = ?6 WHERE id = ?1",
    "DELETE FROM log_stream WHERE id = ?",
    "INSERT INTO deleted_stream(id) VALUES(?)",
    "SELECT 1 FROM log_stream_writer WHERE stream_id = ? AND writer = ?",
    "INSERT OR IGNORE INTO log_stream_writer(stream_id, writer) VALUES(?, ?)",
    "DELETE FROM log_stream_writer WHERE stream_id = ?",
};
#undef STREAM_COLUMNS

// The least text behind `name`.
std::string successor(std::string_view name) {
  return std::string(name) + '\0';
}
// Behind every UTF-8 text that starts with `prefix`.
std::string behind_prefix(std::string_view prefix) {
  return std::string(prefix) + '\xFF';
}

Stream read_stream_row(const sqlite::Statement& row) {
  Stream stream;
  stream.id = row.column_int64(0);
  stream.group_id = row.column_int64(1);
  stream.name = row.column_text(2);
  stream.creation_time = row.column_int64(3);
  stream.first_event_timestamp = row.column_int64(4);
  stream.last_event_timestamp = row.column_int64(5);
  stream.last_ingestion_time = row.column_int64(6);
  stream.stored_bytes = row.column_int64(7);
  if (!row.column_is_null(8)) stream.next_position = row.column_int64(8);
  return stream;
}

base::Result<std::optional<Stream>> read_one(sqlite::Statement& row) {
  if (!TRY(row.step())) return std::nullopt;
  Stream stream = read_stream_row(row);
  row.reset();
  return stream;
}

base::Result<void> visit_rows(sqlite::Statement& row, const VisitStream& visit) {
  while (TRY(row.step())) {
    if (!visit(read_stream_row(row))) {
      row.reset();
      break;
    }
  }
  return {};
}

}  // namespace

std::span<const char* const> Streams::sql() {
  return stream_queries;
}

base::Result<Streams> Streams::prepare(sqlite::Database& database) {
  Streams streams;
  streams.statements_.reserve(stream_queries.size());
  for (const char* sql : stream_queries) streams.statements_.push_back(TRY(database.prepare(sql)));
  return streams;
}

base::Result<std::optional<Stream>> Streams::find(int64_t group_id, std::string_view name) {
  return read_one(statements_[StreamByName].bind_int64(1, group_id).bind_text(2, name));
}

base::Result<std::optional<Stream>> Streams::find(int64_t id) {
  return read_one(statements_[StreamById].bind_int64(1, id));
}

base::Result<void> Streams::visit_by_name(int64_t group_id, std::string_view prefix, Order order,
                                          const std::optional<StreamPlace>& after,
                                          const VisitStream& visit) {
  const auto with_prefix = [&](const Stream& stream) {
    return stream.name.starts_with(prefix) && visit(stream);
  };
  if (order == Order::Ascending) {
    const std::string from = std::max(std::string(prefix), after ? successor(after->name) : "");
    return visit_rows(statements_[StreamsByName].bind_int64(1, group_id).bind_text(2, from),
                      with_prefix);
  }
  const std::string before = after ? after->name : behind_prefix(prefix);
  sqlite::Statement& row = statements_[StreamsByNameDescending];
  row.bind_int64(1, group_id).bind_text(2, before).bind_text(3, prefix);
  return visit_rows(row, with_prefix);
}

base::Result<void> Streams::visit_by_last_event(int64_t group_id, Order order,
                                                const std::optional<StreamPlace>& after,
                                                const VisitStream& visit) {
  const bool ascending = order == Order::Ascending;
  constexpr int64_t first = std::numeric_limits<int64_t>::min();
  constexpr int64_t last = std::numeric_limits<int64_t>::max();
  sqlite::Statement& row =
      statements_[ascending ? StreamsByLastEvent : StreamsByLastEventDescending];
  row.bind_int64(1, group_id);
  row.bind_int64(2, after ? after->last_event_timestamp : (ascending ? first : last));
  row.bind_text(3, after ? after->name : "");
  return visit_rows(row, visit);
}

base::Result<void> Streams::insert(int64_t group_id, std::string_view name, int64_t creation_time) {
  return statements_[InsertStream]
      .bind_int64(1, group_id)
      .bind_text(2, name)
      .bind_int64(3, creation_time)
      .run();
}

base::Result<void> Streams::update(const Stream& stream) {
  sqlite::Statement& statement = statements_[UpdateStream];
  statement.bind_int64(1, stream.id)
      .bind_int64(2, stream.first_event_timestamp)
      .bind_int64(3, stream.last_event_timestamp)
      .bind_int64(4, stream.last_ingestion_time)
      .bind_int64(5, stream.stored_bytes);
  if (stream.next_position) {
    statement.bind_int64(6, *stream.next_position);
  } else {
    statement.bind_null(6);
  }
  return statement.run();
}

base::Result<void> Streams::remove(int64_t id) {
  TRY_VOID(statements_[RemoveWriters].bind_int64(1, id).run());
  TRY_VOID(statements_[RemoveStream].bind_int64(1, id).run());
  return statements_[LeaveStreamEvents].bind_int64(1, id).run();
}

base::Result<bool> Streams::is_writer(int64_t id, std::string_view writer) {
  sqlite::Statement& row = statements_[FindWriter].bind_int64(1, id).bind_text(2, writer);
  if (!TRY(row.step())) return false;
  row.reset();
  return true;
}

base::Result<void> Streams::add_writer(int64_t id, std::string_view writer) {
  return statements_[AddWriter].bind_int64(1, id).bind_text(2, writer).run();
}

base::Result<void> Streams::set_writer(int64_t id, std::string_view writer) {
  TRY_VOID(statements_[RemoveWriters].bind_int64(1, id).run());
  return add_writer(id, writer);
}

}  // namespace logs
