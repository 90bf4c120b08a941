// A database's own count of its commits, kept a second time beside it: so that a database that has
// lost commits at its end says so, instead of going on with an older state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "sqlite/database.h"

namespace sqlite {

// Makes the table: a part of an UpgradeStep. One database, one count.
base::Result<void> create_commit_count(Database& database);

// Use: begin() once; in each transaction advance(), and after its commit acknowledge().
//
// The count beside the database, `<path>.commits`, is written without waiting for the disk: it
// survives the end of the process at any moment, and after a power cut it may be an older one or
// none, which asks for less. A copy made by Database::backup_to has the count of its moment:
// whoever puts an older database in place on purpose removes the file beside it.
class CommitCount {
 public:
  // Errors: "Corrupt" when commits that were acknowledged are not in the database, naming their
  // number; "IoError".
  static base::Result<CommitCount> begin(Database& database);
  CommitCount(CommitCount&& other) noexcept;
  CommitCount& operator=(CommitCount&& other) noexcept;
  ~CommitCount();

  base::Result<void> advance();
  void acknowledge();

 private:
  CommitCount(Statement advance, std::string lineage, int64_t count, int file);

  Statement advance_;
  std::string lineage_;  // Of which database: the file may be left from another one.
  int64_t count_ = 0;    // As of the transaction that is open or was the last to end.
  int file_ = -1;
};

}  // namespace sqlite
