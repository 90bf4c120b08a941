#include "logs/scrubber.h"

#include <array>

namespace logs {
namespace {

// The places in Scrubber::statements_.
enum ScrubQuery : uint8_t {
  NextOfTable,
  NextOfIndex,
  InIndex,
  InTable,
  ScrubQueryCount,
};

// By the first two, rows of (the place, the other first column).
constexpr std::array<const char*, ScrubQueryCount> scrub_queries = {
    "SELECT stream_id, timestamp, id, group_id FROM event "
    "WHERE (stream_id, timestamp, id) > (?, ?, ?) ORDER BY stream_id, timestamp, id LIMIT ?",
    "SELECT group_id, timestamp, id, stream_id FROM event INDEXED BY event_by_group "
    "WHERE (group_id, timestamp, id) > (?, ?, ?) ORDER BY group_id, timestamp, id LIMIT ?",
    "SELECT stream_id FROM event INDEXED BY event_by_group "
    "WHERE group_id = ? AND timestamp = ? AND id = ?",
    "SELECT group_id FROM event WHERE stream_id = ? AND timestamp = ? AND id = ?",
};

}  // namespace

std::span<const char* const> Scrubber::sql() {
  return scrub_queries;
}

base::Result<Scrubber> Scrubber::prepare(sqlite::Database& database) {
  Scrubber scrubber;
  for (const char* sql : scrub_queries) scrubber.statements_.push_back(TRY(database.prepare(sql)));
  return scrubber;
}

base::Result<bool> Scrubber::scrub(int64_t limit) {
  sqlite::Statement& row = statements_[by_table_ ? NextOfTable : NextOfIndex];
  sqlite::Statement& other = statements_[by_table_ ? InIndex : InTable];
  row.bind_int64(1, place_.first).bind_int64(2, place_.timestamp);
  row.bind_int64(3, place_.id).bind_int64(4, limit);
  int64_t seen = 0;
  while (TRY(row.step())) {
    ++seen;
    place_ = {row.column_int64(0), row.column_int64(1), row.column_int64(2)};
    const int64_t wanted = row.column_int64(3);
    other.bind_int64(1, wanted).bind_int64(2, place_.timestamp).bind_int64(3, place_.id);
    const bool found = TRY(other.step()) && other.column_int64(0) == place_.first;
    other.reset();
    if (found) continue;
    row.reset();
    return other.damaged(by_table_ ? "an event is not in its index"
                                   : "its index names an event that is not there");
  }
  if (seen == limit) return false;
  by_table_ = !by_table_;
  place_ = before_all;
  return by_table_;
}

}  // namespace logs
