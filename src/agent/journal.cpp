#include "agent/journal.h"

#include <bit>
#include <utility>

#include "base/format.h"
#include "sqlite/commit_count.h"
#include "sqlite/upgrade.h"

namespace agent {
namespace {

constexpr const char* schema = R"(
CREATE TABLE records(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE settings(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE log_positions(
  task TEXT NOT NULL, container TEXT NOT NULL, runtime_id TEXT NOT NULL,
  next_event INTEGER NOT NULL, since_ns INTEGER NOT NULL, since_count INTEGER NOT NULL,
  newest_ns INTEGER NOT NULL, PRIMARY KEY(task, container)) WITHOUT ROWID;
)";

base::Result<void> create_tables(sqlite::Database& database) {
  return database.execute(schema);
}

// A line is known by itself, no longer by counting from a time on.
constexpr const char* positions_by_line = R"(
CREATE TABLE log_positions_by_line(
  task TEXT NOT NULL, container TEXT NOT NULL, runtime_id TEXT NOT NULL,
  next_event INTEGER NOT NULL, last_ns INTEGER, last_hash INTEGER,
  PRIMARY KEY(task, container)) WITHOUT ROWID;
INSERT INTO log_positions_by_line
  SELECT task, container, runtime_id, next_event, NULLIF(newest_ns, 0), NULL FROM log_positions;
DROP TABLE log_positions;
ALTER TABLE log_positions_by_line RENAME TO log_positions;
)";

base::Result<void> keep_positions_by_line(sqlite::Database& database) {
  return database.execute(positions_by_line);
}

constexpr sqlite::UpgradeStep steps_to_present[] = {
    {0, create_tables}, {1, keep_positions_by_line}, {2, sqlite::create_commit_count}};

LogPosition position_of(const sqlite::Statement& row) {
  LogPosition position{.runtime_id = std::string(row.column_text(2)),
                       .next_event = row.column_int64(3)};
  if (row.column_is_null(4)) return position;
  position.last.emplace().time_ns = row.column_int64(4);
  if (!row.column_is_null(5)) {
    position.last->hash = std::bit_cast<uint64_t>(row.column_int64(5));
  }
  return position;
}

void bind_position(sqlite::Statement& put, const LogPosition& position) {
  put.bind_text(3, position.runtime_id).bind_int64(4, position.next_event);
  put.bind_null(5).bind_null(6);
  if (!position.last) return;
  put.bind_int64(5, position.last->time_ns);
  if (position.last->hash) put.bind_int64(6, std::bit_cast<int64_t>(*position.last->hash));
}

base::Result<void> prepare_schema(sqlite::Database& database) {
  // The lock is kept until the file is closed: two agents with one journal would both run its
  // tasks.
  TRY_VOID(database.execute("PRAGMA locking_mode=EXCLUSIVE"));
  // The lock is there from the first write on.
  auto first_write = TRY(sqlite::Transaction::begin(database));
  TRY_VOID(first_write.commit());
  TRY_VOID(sqlite::upgrade(database, steps_to_present, sqlite::user_version_place));
  // Without its log it is not taken for a new one.
  TRY_VOID(database.checkpoint());
  return database.quick_check();
}

base::Result<std::unique_ptr<sqlite::Database>> open_database(const std::filesystem::path& file,
                                                              const std::string& vfs) {
  auto database =
      TRY(sqlite::Database::open(file.string(), {.synchronous = sqlite::Synchronous::Full,
                                                 .busy_timeout = std::chrono::seconds(2),
                                                 .vfs = vfs}));
  TRY_VOID(prepare_schema(*database));
  return database;
}

}  // namespace

Journal::Journal(std::unique_ptr<sqlite::Database> database, sqlite::CommitCount count,
                 std::vector<sqlite::Statement> statements)
    : database_(std::move(database)),
      count_(std::move(count)),
      put_record_(std::move(statements[0])),
      delete_record_(std::move(statements[1])),
      put_position_(std::move(statements[2])),
      delete_position_(std::move(statements[3])) {}

base::Result<std::unique_ptr<Journal>> Journal::open(const std::filesystem::path& file,
                                                     const std::string& vfs) {
  auto database = open_database(file, vfs);
  if (!database && database.error().code == sqlite::busy) {
    return base::fail(
        std::string(sqlite::busy),
        base::format("{} is in use by another agent; give each agent a data directory of its own, "
                     "or stop the other one.",
                     file.string()));
  }
  if (!database) return base::fail(std::move(database).error());
  std::vector<sqlite::Statement> statements;
  for (const std::string_view sql :
       {"INSERT OR REPLACE INTO records VALUES(?, ?)", "DELETE FROM records WHERE key = ?",
        "INSERT OR REPLACE INTO log_positions VALUES(?, ?, ?, ?, ?, ?)",
        "DELETE FROM log_positions WHERE task = ? AND container = ?"}) {
    statements.push_back(TRY((*database)->prepare(sql)));
  }
  auto count = TRY(sqlite::CommitCount::begin(**database));
  return std::unique_ptr<Journal>(
      new Journal(std::move(*database), std::move(count), std::move(statements)));
}

base::Result<std::vector<core::JournalRecord>> Journal::records() {
  std::vector<core::JournalRecord> records;
  auto select = TRY(database_->prepare("SELECT key, value FROM records ORDER BY key"));
  while (TRY(select.step())) {
    records.push_back({std::string(select.column_text(0)), std::string(select.column_text(1))});
  }
  return records;
}

base::Result<std::map<LogKey, LogPosition>> Journal::log_positions() {
  std::map<LogKey, LogPosition> positions;
  auto select = TRY(database_->prepare(
      "SELECT task, container, runtime_id, next_event, last_ns, last_hash FROM log_positions"));
  while (TRY(select.step())) {
    positions[{std::string(select.column_text(0)), std::string(select.column_text(1))}] =
        position_of(select);
  }
  return positions;
}

base::Result<std::optional<std::string>> Journal::setting(std::string_view name) {
  auto select = TRY(database_->prepare("SELECT value FROM settings WHERE name = ?"));
  select.bind_text(1, name);
  if (!TRY(select.step())) return std::optional<std::string>();
  return std::optional<std::string>(select.column_text(0));
}

base::Result<void> Journal::set_setting(std::string_view name, std::string_view value) {
  auto insert = TRY(database_->prepare("INSERT OR REPLACE INTO settings VALUES(?, ?)"));
  return insert.bind_text(1, name).bind_text(2, value).run();
}

base::Result<void> Journal::commit(const Writes& writes) {
  auto transaction = TRY(sqlite::Transaction::begin(*database_));
  TRY_VOID(write(writes));
  TRY_VOID(count_.advance());
  TRY_VOID(transaction.commit());
  count_.acknowledge();
  return {};
}

base::Result<void> Journal::write(const Writes& writes) {
  for (const core::JournalWrite& one : writes.records) {
    if (one.value) {
      TRY_VOID(put_record_.bind_text(1, one.key).bind_text(2, *one.value).run());
    } else {
      TRY_VOID(delete_record_.bind_text(1, one.key).run());
    }
  }
  for (const auto& [key, position] : writes.log_positions) {
    if (!position) {
      TRY_VOID(delete_position_.bind_text(1, key.task_arn).bind_text(2, key.container).run());
      continue;
    }
    put_position_.bind_text(1, key.task_arn).bind_text(2, key.container);
    bind_position(put_position_, *position);
    TRY_VOID(put_position_.run());
  }
  return {};
}

}  // namespace agent
