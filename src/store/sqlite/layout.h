// The layout of the records' file, its versions, and the way from an older one to the present.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "sqlite/database.h"
#include "sqlite/upgrade.h"

namespace store {

// The version that this program writes; 0 stands for a file without tables.
inline constexpr int64_t sqlite_format = 2;

// Every step between two released formats, in order, the first of them making a new file.
std::span<const sqlite::UpgradeStep> upgrades();

// Brings `database` to the last format that `steps` lead to (see sqlite/upgrade.h).
// Errors: "UnsupportedFormat" for a newer file or another program's; "Corrupt"; SQLite's.
base::Result<void> prepare_layout(sqlite::Database& database,
                                  std::span<const sqlite::UpgradeStep> steps);

}  // namespace store
