// Removes expired events, and what deleted groups and streams left behind, bit by bit.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "logs/limits.h"
#include "logs/tables/events.h"
#include "logs/tables/groups.h"
#include "logs/tables/streams.h"
#include "sqlite/database.h"

namespace logs {

struct Tables {
  Groups& groups;
  Streams& streams;
  Events& events;
};

struct Swept {
  bool more = false;                         // There may be.
  std::vector<std::string> over_quota = {};  // Groups that lost events which had not expired.
};

// Must not outlive the database. Errors: sqlite's.
class Sweeper {
 public:
  static base::Result<Sweeper> prepare(sqlite::Database& database);

  // Removes at most `limit` events, within the caller's transaction: what deleted groups and
  // streams left behind, what has expired, and the oldest of what is more than `limits` allow: of a
  // group that is over its quota or, where the file is, of the one that holds the most.
  base::Result<Swept> sweep(Tables tables, const Limits& limits, base::Time now, int64_t limit);

 private:
  struct Removal {
    Range range = {};
    int64_t events = 0;  // At most; and of bytes, as PutLogEvents counts, hardly more than this.
    int64_t bytes = std::numeric_limits<int64_t>::max();
  };

  Sweeper() = default;
  base::Result<int64_t> sweep_deleted(Events& events, Scope scope, int64_t limit);
  base::Result<int64_t> sweep_expired(Tables tables, const Limits& limits, base::Time now,
                                      int64_t limit);
  base::Result<int64_t> sweep_over_quota(Tables tables, const Limits& limits, int64_t limit,
                                         Swept& swept);
  base::Result<int64_t> remove_oldest(const Group& group, Tables tables, const Removal& removal);
  base::Result<int64_t> bytes_in_use();

  std::vector<sqlite::Statement> statements_;
};

}  // namespace logs
