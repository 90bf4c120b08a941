// The layout of the records' file, its versions, and the way from an older one to the present.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "sqlite/database.h"

namespace store {

// The version that this program writes; 0 stands for a file without tables.
inline constexpr int64_t sqlite_format = 1;

// Makes a file of format `from` one of format `from + 1`. Runs inside a transaction.
struct Upgrade {
  int64_t from;
  base::Result<void> (*run)(sqlite::Database& database);
};

// Every step between two released formats, in order, the first of them making a new file.
std::span<const Upgrade> upgrades();

// Brings `database` to the last format that `steps` lead to, all of it in one transaction.
// Errors: "UnsupportedFormat" for a newer file or another program's; "Corrupt"; SQLite's.
base::Result<void> prepare_layout(sqlite::Database& database, std::span<const Upgrade> steps);

}  // namespace store
