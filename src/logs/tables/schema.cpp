#include "logs/tables/schema.h"

#include "base/format.h"

namespace logs {
namespace {

constexpr int64_t schema_version = 1;

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

}  // namespace

base::Result<std::unique_ptr<sqlite::Database>> open_database(const std::string& path) {
  auto database = TRY(sqlite::Database::open(path, {.synchronous = sqlite::Synchronous::Full}));
  const int64_t version = TRY(database->user_version());
  if (version == schema_version) return database;
  if (version != 0)
    return base::fail(
        std::string(sqlite::corrupt),
        base::format("{} has the schema version {} and this berth knows {}: start the "
                     "version of berth that wrote it.",
                     path, version, schema_version));
  auto transaction = TRY(sqlite::Transaction::begin(*database));
  TRY_VOID(database->execute(tables));
  TRY_VOID(database->set_user_version(schema_version));
  TRY_VOID(transaction.commit());
  return database;
}

}  // namespace logs
