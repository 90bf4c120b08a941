// Versions of a file's tables: how an older file becomes a present one, and a newer one is refused.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "sqlite/database.h"

namespace sqlite {

// Makes a file of version `from` one of version `from + 1`. Runs inside a transaction. The one from
// 0 makes the tables of a new file.
struct UpgradeStep {
  int64_t from;
  base::Result<void> (*run)(Database& database);
};

// The step that changes no table: programs of before would write pages without their checksums
// (checksum_vfs.h), so they are to refuse the file.
base::Result<void> begin_checksums(Database& database);

// Where a file keeps its version; 0 stands for a file without tables.
struct VersionPlace {
  base::Result<int64_t> (*read)(Database& database);
  base::Result<void> (*write)(Database& database, int64_t version);
};

// The version in the file's header (PRAGMA user_version).
extern const VersionPlace user_version_place;

// Brings `database` to the version that `steps` lead to, all of it in one transaction. A file that
// has tables is copied to `<path>.v<version>-copy` first, and the log names the copy.
// Errors: "UnsupportedFormat" for a file of a newer version; those of reading, copying and writing.
base::Result<void> upgrade(Database& database, std::span<const UpgradeStep> steps,
                           const VersionPlace& place);

}  // namespace sqlite
