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
  BytesInUse,
  SweepQueryCount,
};

constexpr std::array<const char*, SweepQueryCount> sweep_queries = {
    "SELECT id FROM deleted_stream ORDER BY id LIMIT 1",
    "SELECT id FROM deleted_group ORDER BY id LIMIT 1",
    "DELETE FROM deleted_stream WHERE id = ?",
    "DELETE FROM deleted_group WHERE id = ?",
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size",
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

base::Result<int64_t> Sweeper::remove_oldest(const Group& group, Tables tables,
                                             const Removal& removal) {
  const auto keys = TRY(tables.events.keys(Scope::Group, group.id, removal.range, removal.events));
  std::map<int64_t, int64_t> bytes_of_stream;
  int64_t removed = 0;
  int64_t removed_bytes = 0;
  for (const EventKey& key : keys) {
    if (removed_bytes >= removal.bytes) break;
    const Event event = TRY(tables.events.read(key));
    const int64_t bytes = std::ssize(event.message) + event_overhead_bytes;
    bytes_of_stream[key.stream_id] += bytes;
    removed_bytes += bytes;
    TRY_VOID(tables.events.remove(key));
    ++removed;
  }
  int64_t bytes_of_group = 0;
  for (const auto& [id, bytes] : bytes_of_stream) {
    auto stream = TRY(tables.streams.find(id));
    if (!stream) continue;  // Deleted: its bytes were taken off the group then.
    bytes_of_group += bytes;
    stream->stored_bytes -= bytes;
    const auto first = TRY(tables.events.first_timestamp(id));
    stream->first_event_timestamp = first.value_or(-1);
    if (!first) stream->last_event_timestamp = -1;
    TRY_VOID(tables.streams.update(*stream));
  }
  if (bytes_of_group > 0) TRY_VOID(tables.groups.add_stored_bytes(group.id, -bytes_of_group));
  return removed;
}

base::Result<int64_t> Sweeper::bytes_in_use() {
  sqlite::Statement& row = statements_[BytesInUse];
  if (!TRY(row.step())) return 0;
  const int64_t bytes = row.column_int64(0);
  row.reset();
  return bytes;
}

base::Result<int64_t> Sweeper::sweep_expired(Tables tables, const Limits& limits, base::Time now,
                                             int64_t limit) {
  int64_t removed = 0;
  for (const Group& group : TRY(tables.groups.expiring(limits.retention_days > 0))) {
    if (removed == limit) break;
    const auto kept = std::chrono::days(group.retention_in_days.value_or(limits.retention_days));
    // Up to the cutoff, without it: every id is above 0.
    const int64_t cutoff = (now - kept).time_since_epoch().count();
    removed += TRY(remove_oldest(
        group, tables,
        {.range = {.upper = {.timestamp = cutoff, .id = 0}}, .events = limit - removed}));
  }
  return removed;
}

base::Result<int64_t> Sweeper::sweep_over_quota(Tables tables, const Limits& limits, int64_t limit,
                                                Swept& swept) {
  int64_t removed = 0;
  const auto remove = [&](const Group& group, int64_t bytes) -> base::Result<void> {
    removed += TRY(remove_oldest(group, tables, {.events = limit - removed, .bytes = bytes}));
    swept.over_quota.push_back(group.name);
    return {};
  };
  if (limits.group_bytes > 0) {
    for (const Group& group : TRY(tables.groups.larger_than(limits.group_bytes))) {
      if (removed == limit) return removed;
      TRY_VOID(remove(group, group.stored_bytes - limits.group_bytes));
    }
  }
  if (limits.file_bytes == 0 || removed == limit) return removed;
  const int64_t in_use = TRY(bytes_in_use());
  if (in_use <= limits.file_bytes) return removed;
  const auto largest = TRY(tables.groups.largest());
  if (largest && largest->stored_bytes > 0) TRY_VOID(remove(*largest, in_use - limits.file_bytes));
  return removed;
}

base::Result<Swept> Sweeper::sweep(Tables tables, const Limits& limits, base::Time now,
                                   int64_t limit) {
  Swept swept;
  int64_t removed = TRY(sweep_deleted(tables.events, Scope::Stream, limit));
  if (removed < limit) {
    removed += TRY(sweep_deleted(tables.events, Scope::Group, limit - removed));
  }
  if (removed < limit) removed += TRY(sweep_expired(tables, limits, now, limit - removed));
  if (removed < limit) removed += TRY(sweep_over_quota(tables, limits, limit - removed, swept));
  swept.more = removed == limit;
  return swept;
}

}  // namespace logs
