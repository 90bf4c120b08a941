#include "logs/sweeper.h"

#include <array>
#include <chrono>
#include <map>
#include <optional>

namespace logs {
namespace {

// The places in Sweeper::statements_.
enum SweepQuery : uint8_t {
  NextDeletedStream,
  NextDeletedGroup,
  ForgetDeletedStream,
  ForgetDeletedGroup,
  SweepQueryCount,
};

constexpr std::array<const char*, SweepQueryCount> sweep_queries = {
    "SELECT id FROM deleted_stream ORDER BY id LIMIT 1",
    "SELECT id FROM deleted_group ORDER BY id LIMIT 1",
    "DELETE FROM deleted_stream WHERE id = ?",
    "DELETE FROM deleted_group WHERE id = ?",
};

}  // namespace

base::Result<Sweeper> Sweeper::prepare(sqlite::Database& database) {
  Sweeper sweeper;
  sweeper.statements_.reserve(sweep_queries.size());
  for (const char* sql : sweep_queries) sweeper.statements_.push_back(TRY(database.prepare(sql)));
  return sweeper;
}

base::Result<int64_t> Sweeper::sweep_deleted(Events& events, Scope scope, int64_t limit) {
  int64_t removed = 0;
  while (removed < limit) {
    sqlite::Statement& next =
        statements_[scope == Scope::Stream ? NextDeletedStream : NextDeletedGroup];
    if (!TRY(next.step())) break;
    const int64_t id = next.column_int64(0);
    next.reset();
    const auto keys = TRY(events.keys(scope, id, Range{}, limit - removed));
    for (const EventKey& key : keys) TRY_VOID(events.remove(key));
    removed += std::ssize(keys);
    if (removed == limit) break;  // There may be more of this one.
    TRY_VOID(statements_[scope == Scope::Stream ? ForgetDeletedStream : ForgetDeletedGroup]
                 .bind_int64(1, id)
                 .run());
  }
  return removed;
}

base::Result<int64_t> Sweeper::sweep_expired(const Group& group, Events& events, Groups& groups,
                                             Streams& streams, const Range& range, int64_t limit) {
  const auto keys = TRY(events.keys(Scope::Group, group.id, range, limit));
  std::map<int64_t, int64_t> bytes_of_stream;
  for (const EventKey& key : keys) {
    const Event event = TRY(events.read(key));
    bytes_of_stream[key.stream_id] += std::ssize(event.message) + event_overhead_bytes;
    TRY_VOID(events.remove(key));
  }
  int64_t bytes_of_group = 0;
  for (const auto& [id, bytes] : bytes_of_stream) {
    auto stream = TRY(streams.find(id));
    if (!stream) continue;  // Deleted: its bytes were taken off the group then.
    bytes_of_group += bytes;
    stream->stored_bytes -= bytes;
    const auto first = TRY(events.first_timestamp(id));
    stream->first_event_timestamp = first.value_or(-1);
    if (!first) stream->last_event_timestamp = -1;
    TRY_VOID(streams.update(*stream));
  }
  if (bytes_of_group > 0) TRY_VOID(groups.add_stored_bytes(group.id, -bytes_of_group));
  return std::ssize(keys);
}

base::Result<int64_t> Sweeper::sweep(Groups& groups, Streams& streams, Events& events,
                                     base::Time now, int64_t limit) {
  int64_t removed = TRY(sweep_deleted(events, Scope::Stream, limit));
  if (removed < limit) removed += TRY(sweep_deleted(events, Scope::Group, limit - removed));
  for (const Group& group : TRY(groups.expiring())) {
    if (removed == limit) break;
    const base::Time cutoff = now - std::chrono::days(*group.retention_in_days);
    // Up to the cutoff, without it: every id is above 0.
    const Range range{.upper = {.timestamp = cutoff.time_since_epoch().count(), .id = 0}};
    removed += TRY(sweep_expired(group, events, groups, streams, range, limit - removed));
  }
  return removed;
}

}  // namespace logs
