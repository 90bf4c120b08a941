#include "logs/tables/schema.h"

#include <cstdint>

#include "sqlite/upgrade.h"

namespace logs {
namespace {

// Reading more of a bigger file for damage would delay the start by seconds.
constexpr uint64_t most_compared_bytes = uint64_t{128} << 20;  // Indexes with their tables.
constexpr uint64_t most_checked_bytes = uint64_t{1} << 30;

// Times are milliseconds since 1970-01-01 UTC. Ids of groups, streams and events are never given
// twice, so that what is left of a deleted stream can be removed bit by bit after its row is gone.
//
// event: `id` is the order of arrival. The table itself is in the order in which GetLogEvents reads
// it and event_by_group in that of FilterLogEvents: a page is one scan from a logs::Position on,
// without sorting, also where many events share a timestamp.
// log_stream.last_event_timestamp is -1 while there is no event, for the sake of its index.
constexpr const char* tables = R"(
CREATE TABLE log_group(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  creation_time INTEGER NOT NULL,
  retention_in_days INTEGER,
  class TEXT NOT NULL,
  deletion_protection INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL
) STRICT;
CREATE TABLE log_group_tag(
  group_id INTEGER NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY(group_id, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE log_stream(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  group_id INTEGER NOT NULL,
  name TEXT NOT NULL,
  creation_time INTEGER NOT NULL,
  first_event_timestamp INTEGER NOT NULL,
  last_event_timestamp INTEGER NOT NULL,
  last_ingestion_time INTEGER NOT NULL,
  stored_bytes INTEGER NOT NULL,
  next_position INTEGER,
  UNIQUE(group_id, name)
) STRICT;
CREATE INDEX log_stream_by_last_event ON log_stream(group_id, last_event_timestamp, name);
CREATE TABLE event(
  stream_id INTEGER NOT NULL,
  timestamp INTEGER NOT NULL,
  id INTEGER NOT NULL,
  group_id INTEGER NOT NULL,
  ingestion_time INTEGER NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY(stream_id, timestamp, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_by_group ON event(group_id, timestamp, id);
CREATE TABLE next_event(id INTEGER NOT NULL) STRICT;
INSERT INTO next_event VALUES(1);
CREATE TABLE deleted_group(id INTEGER PRIMARY KEY) STRICT;
CREATE TABLE deleted_stream(id INTEGER PRIMARY KEY) STRICT;
)";

base::Result<void> create_tables(sqlite::Database& database) {
  return database.execute(tables);
}

// The agents that write to each stream; those of before are every agent's.
base::Result<void> add_writers(sqlite::Database& database) {
  return database.execute(R"(
CREATE TABLE log_stream_writer(
  stream_id INTEGER NOT NULL,
  writer TEXT NOT NULL,
  PRIMARY KEY(stream_id, writer)
) STRICT, WITHOUT ROWID;
INSERT INTO log_stream_writer SELECT id, '*' FROM log_stream;
)");
}

constexpr sqlite::UpgradeStep steps_to_present[] = {
    {0, create_tables}, {1, add_writers}, {2, sqlite::begin_checksums}};

}  // namespace

base::Result<std::unique_ptr<sqlite::Database>> open_database(const std::string& path) {
  auto database = TRY(sqlite::Database::open(path, {.synchronous = sqlite::Synchronous::Full}));
  TRY_VOID(sqlite::upgrade(*database, steps_to_present, sqlite::user_version_place));
  const int64_t pages = TRY(database->query_int64("PRAGMA page_count"));
  const int64_t page_bytes = TRY(database->query_int64("PRAGMA page_size"));
  const auto bytes = static_cast<uint64_t>(pages * page_bytes);
  if (bytes <= most_compared_bytes) {
    TRY_VOID(database->integrity_check());
  } else if (bytes <= most_checked_bytes) {
    TRY_VOID(database->quick_check());
  }
  return database;
}

base::Result<std::unique_ptr<sqlite::Database>> open_database_to_read(const std::string& path) {
  auto database = TRY(sqlite::Database::open(path, {.access = sqlite::Access::Existing}));
  TRY_VOID(database->execute("PRAGMA query_only=1"));
  return database;
}

}  // namespace logs
