#include "store/sqlite/layout.h"

#include "base/format.h"

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

constexpr Upgrade steps_to_present[] = {{0, create_tables}};

base::Result<int64_t> format_of(sqlite::Database& database) {
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

}  // namespace

std::span<const Upgrade> upgrades() {
  return steps_to_present;
}

base::Result<void> prepare_layout(sqlite::Database& database, std::span<const Upgrade> steps) {
  const int64_t present = steps.empty() ? 0 : steps.back().from + 1;
  const int64_t found = TRY(format_of(database));
  if (found == present) return {};
  if (found > present) {
    return base::fail(
        "UnsupportedFormat",
        base::format("{} has format {}, and this version of berth reads formats up to "
                     "{}: start the newer version that wrote it, or restore a backup.",
                     database.path(), found, present));
  }
  auto transaction = TRY(sqlite::Transaction::begin(database));
  for (const Upgrade& step : steps) {
    if (step.from >= found) TRY_VOID(step.run(database));
  }
  TRY_VOID(
      database.execute(base::format("INSERT OR REPLACE INTO meta VALUES('format', {})", present)));
  return transaction.commit();
}

}  // namespace store
