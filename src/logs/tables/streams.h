// The table log_stream.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"

namespace logs {

// Times are milliseconds since 1970-01-01 UTC; -1 while the stream holds no event.
struct Stream {
  int64_t id = 0;
  int64_t group_id = 0;
  std::string name = {};
  int64_t creation_time = 0;
  int64_t first_event_timestamp = -1;
  int64_t last_event_timestamp = -1;
  int64_t last_ingestion_time = -1;  // Kept when the events expire.
  int64_t stored_bytes = 0;          // As PutLogEvents counts: 26 bytes are added to each message.
  // The position behind the last event of an agent that numbers its events (berthPosition).
  std::optional<int64_t> next_position = {};
};

enum class Order : uint8_t { Ascending, Descending };

// Where a list of streams goes on: behind the stream with this name or, when streams are ordered by
// it, this last_event_timestamp and name.
struct StreamPlace {
  int64_t last_event_timestamp = 0;
  std::string name = {};
};

// Stands for every agent, at streams that are older than the list of writers.
inline constexpr std::string_view any_writer = "*";

using VisitStream = std::function<bool(const Stream&)>;

// Must not outlive the database. Errors: sqlite's.
class Streams {
 public:
  static base::Result<Streams> prepare(sqlite::Database& database);
  // Every statement it uses.
  static std::span<const char* const> sql();

  base::Result<std::optional<Stream>> find(int64_t group_id, std::string_view name);
  base::Result<std::optional<Stream>> find(int64_t id);

  // Visit the group's streams from behind `after` (absent: from the start) until there are none
  // left or `visit` answers false.
  // In the order of the names' bytes, those that start with `prefix`.
  base::Result<void> visit_by_name(int64_t group_id, std::string_view prefix, Order order,
                                   const std::optional<StreamPlace>& after,
                                   const VisitStream& visit);
  base::Result<void> visit_by_last_event(int64_t group_id, Order order,
                                         const std::optional<StreamPlace>& after,
                                         const VisitStream& visit);

  base::Result<void> insert(int64_t group_id, std::string_view name, int64_t creation_time);
  // Writes the times, bytes and position of `stream`.
  base::Result<void> update(const Stream& stream);
  // Its events are left to Sweeper.
  base::Result<void> remove(int64_t id);

  // The agents that write to a stream (stream_writers.h), by the ARNs of their instances.
  base::Result<bool> is_writer(int64_t id, std::string_view writer);
  base::Result<void> add_writer(int64_t id, std::string_view writer);
  // The only one from now on.
  base::Result<void> set_writer(int64_t id, std::string_view writer);

 private:
  Streams() = default;

  std::vector<sqlite::Statement> statements_;
};

}  // namespace logs
