#include "store/sqlite/layout.h"

#include "base/format.h"
#include "sqlite/commit_count.h"

namespace store {
namespace {

// "Bert" in the header's field for the kind of file, which the file command shows as well.
constexpr int64_t application_id = 0x42657274;

// The records' table has a rowid: records of 1.5 kB stay on one page then, and a put costs a third
// of what it costs in a table that is its own index.
base::Result<void> create_tables(sqlite::Database& database) {
  return database.execute(
      base::format("PRAGMA application_id={};", application_id) +
      "CREATE TABLE meta(name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;"
      "INSERT INTO meta VALUES('epoch', 0), ('leader', '');"
      "CREATE TABLE records(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL);");
}

constexpr sqlite::UpgradeStep steps_to_present[] = {{0, create_tables},
                                                    {1, sqlite::create_commit_count}};

base::Result<int64_t> read_format(sqlite::Database& database) {
  if (TRY(database.query_int64("SELECT count(*) FROM sqlite_master")) == 0) return 0;
  if (TRY(database.query_int64("PRAGMA application_id")) != application_id) {
    return base::fail("UnsupportedFormat",
                      base::format("{} is another program's SQLite file: choose another directory "
                                   "for the data, or move the file away.",
                                   database.path()));
  }
  const auto format = database.query_int64("SELECT value FROM meta WHERE name = 'format'");
  if (format && *format > 0) return *format;
  if (!format && format.error().code != sqlite::invalid_sql) return format;
  return base::fail(std::string(sqlite::corrupt),
                    base::format("{} is damaged: its format is not in it. Stop the program and "
                                 "restore the file from a backup.",
                                 database.path()));
}

base::Result<void> write_format(sqlite::Database& database, int64_t format) {
  return database.execute(base::format("INSERT OR REPLACE INTO meta VALUES('format', {})", format));
}

}  // namespace

std::span<const sqlite::UpgradeStep> upgrades() {
  return steps_to_present;
}

base::Result<void> prepare_layout(sqlite::Database& database,
                                  std::span<const sqlite::UpgradeStep> steps) {
  return sqlite::upgrade(database, steps, {read_format, write_format});
}

}  // namespace store
