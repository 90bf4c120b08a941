// The table event.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "logs/position.h"
#include "sqlite/database.h"

namespace logs {

// What PutLogEvents counts for each event beside its message, in bytes.
// Source: CloudWatch Logs API reference, PutLogEvents.
inline constexpr int64_t event_overhead_bytes = 26;

struct Event {
  Position position = {};
  int64_t stream_id = 0;
  int64_t ingestion_time = 0;  // Milliseconds since 1970-01-01 UTC.
  std::string message = {};
};

// The positions strictly between the two.
struct Range {
  Position lower{.timestamp = std::numeric_limits<int64_t>::min()};
  Position upper{.timestamp = std::numeric_limits<int64_t>::max()};
};

// Lists of events are of one stream or of a whole group. A group's list may name streams that are
// deleted, whose events are not yet swept away.
enum class Scope : uint8_t { Stream, Group };

struct EventKey {
  Position position = {};
  int64_t stream_id = 0;
};

// Must not outlive the database. Errors: sqlite's.
class Events {
 public:
  static base::Result<Events> prepare(sqlite::Database& database);
  // Every statement it uses.
  static std::span<const char* const> sql();

  // The first of `count` ids that are the caller's now, for good if the transaction commits.
  base::Result<int64_t> reserve_ids(int64_t count);
  // The id that the next event will get.
  base::Result<int64_t> next_id();
  base::Result<void> insert(const EventKey& key, int64_t group_id, int64_t ingestion_time,
                            std::string_view message);

  // Visits a stream's events in `range`, in rising or (Backward) falling order, until there are
  // none left or `visit` answers false.
  base::Result<void> visit(int64_t stream_id, const Range& range, Direction direction,
                           const std::function<bool(Event&)>& visit);
  // The first `limit` keys in `range`, rising. Cost: O(limit + log of all events).
  base::Result<std::vector<EventKey>> keys(Scope scope, int64_t id, const Range& range,
                                           int64_t limit);
  // Errors: "Corrupt" where there is no such event.
  base::Result<Event> read(const EventKey& key);
  // The timestamp of a stream's first event.
  base::Result<std::optional<int64_t>> first_timestamp(int64_t stream_id);

  base::Result<void> remove(const EventKey& key);

 private:
  Events() = default;

  std::vector<sqlite::Statement> statements_;
};

}  // namespace logs
