// Removes expired events, and what deleted groups and streams left behind, bit by bit.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "logs/tables/events.h"
#include "logs/tables/groups.h"
#include "logs/tables/streams.h"
#include "sqlite/database.h"

namespace logs {

// Must not outlive the database. Errors: sqlite's.
class Sweeper {
 public:
  static base::Result<Sweeper> prepare(sqlite::Database& database);

  // Removes at most `limit` events, within the caller's transaction; answers how many, which is
  // `limit` when there may be more.
  base::Result<int64_t> sweep(Groups& groups, Streams& streams, Events& events, base::Time now,
                              int64_t limit);

 private:
  Sweeper() = default;
  base::Result<int64_t> sweep_deleted(Events& events, Scope scope, int64_t limit);
  base::Result<int64_t> sweep_expired(const Group& group, Events& events, Groups& groups,
                                      Streams& streams, const Range& range, int64_t limit);

  std::vector<sqlite::Statement> statements_;
};

}  // namespace logs
