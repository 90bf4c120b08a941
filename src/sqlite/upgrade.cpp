#include "sqlite/upgrade.h"

#include <string>

#include "base/format.h"
#include "base/log.h"

namespace sqlite {
namespace {

base::Result<int64_t> read_user_version(Database& database) {
  return database.user_version();
}
base::Result<void> write_user_version(Database& database, int64_t version) {
  return database.set_user_version(version);
}

base::Result<void> keep_copy(Database& database, int64_t version) {
  const std::string copy = base::format("{}.v{}-copy", database.path(), version);
  TRY_VOID(database.backup_to(copy));
  base::log_info(
      "{} has format {} and is upgraded. A copy as it was is {}: an older berth reads that one; "
      "remove it when it is not needed any more",
      database.path(), version, copy);
  return {};
}

}  // namespace

base::Result<void> begin_checksums(Database&) {
  return {};
}

const VersionPlace user_version_place{read_user_version, write_user_version};

base::Result<void> upgrade(Database& database, std::span<const UpgradeStep> steps,
                           const VersionPlace& place) {
  const int64_t present = steps.empty() ? 0 : steps.back().from + 1;
  const int64_t found = TRY(place.read(database));
  if (found == present) return {};
  if (found > present) {
    return base::fail(
        "UnsupportedFormat",
        base::format("{} has format {}, and this version of berth reads formats up to "
                     "{}: start the newer version that wrote it, or restore a backup.",
                     database.path(), found, present));
  }
  if (found > 0) TRY_VOID(keep_copy(database, found));
  auto transaction = TRY(Transaction::begin(database));
  for (const UpgradeStep& step : steps) {
    if (step.from >= found) TRY_VOID(step.run(database));
  }
  TRY_VOID(place.write(database, present));
  return transaction.commit();
}

}  // namespace sqlite
