// Looks through a store bit by bit for damage that nobody has come upon: an index that does not
// have what its table has.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "sqlite/database.h"

namespace logs {

// Must not outlive the database. Errors: sqlite's, "Corrupt" where it has found something.
class Scrubber {
 public:
  static base::Result<Scrubber> prepare(sqlite::Database& database);
  // Every statement it uses.
  static std::span<const char* const> sql();

  // Compares the next `limit` events with their entries of the index and, a round later, the
  // entries with the events. True: it was at the end, and begins anew. Cost: O(limit).
  base::Result<bool> scrub(int64_t limit);

 private:
  // A row's place, in the order in which the round goes through them.
  struct Place {
    int64_t first;  // The stream's id, or the group's.
    int64_t timestamp;
    int64_t id;
  };
  static constexpr Place before_all{-1, -1, -1};

  Scrubber() = default;

  bool by_table_ = true;  // Or by the index.
  Place place_ = before_all;
  std::vector<sqlite::Statement> statements_;
};

}  // namespace logs
