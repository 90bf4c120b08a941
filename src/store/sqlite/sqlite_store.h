// Records in one SQLite file: the embedded engine of a single control plane.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/time.h"
#include "sqlite/database.h"
#include "store/sqlite/owner_lock.h"
#include "store/store.h"

namespace store {

// Table `records` (key, value) and table `meta` (format, epoch, leader), to be read with the
// sqlite3 tool also while the server runs. A commit is one transaction, synced before it answers
// (WAL, synchronous=FULL). The file has one owner: an advisory lock on `<path>.lock` keeps a second
// process out, and leadership never runs out while the lock is held. Damage to the file or its log
// is found by checksums, and lost commits by their count (sqlite/commit_count.h).
class SqliteStore final : public Store {
 public:
  // Makes the file when there is none. `vfs` names a registered VFS; empty: the system's files.
  // Errors: "Busy" naming the process that holds it; "UnsupportedFormat" for a file of a newer
  // version, or of another program; "Corrupt"; "IoError".
  static base::Result<std::unique_ptr<SqliteStore>> open(const std::string& path,
                                                         const std::string& vfs = {});
  ~SqliteStore() override;

  Limits limits() const override { return {}; }
  // Wins at once: the lock is what keeps others out.
  base::Result<uint64_t> campaign(std::string_view candidate, base::Milliseconds patience) override;
  // The first one, and each after a failure, reads the whole file for damage.
  base::Result<std::vector<Record>> load() override;
  CommitOutcome commit(uint64_t epoch, const Batch& batch) override;
  RenewOutcome renew(uint64_t epoch) override;
  void resign(uint64_t epoch) override;
  // Answers at once: no other process can become leader.
  base::Result<std::optional<Leader>> watch_leader(uint64_t known_epoch,
                                                   base::Milliseconds patience) override;
  const base::Error& last_error() const override { return error_; }

  // A consistent copy of the file, for backups while the server runs.
  base::Result<void> backup_to(const std::string& destination);

 private:
  struct Connection;
  SqliteStore(std::string path, std::string vfs, OwnerLock lock);

  // Opens the file where it is not open: at the start, and after a failed write, since only reading
  // the file anew settles what is in it.
  base::Result<void> connect();
  base::Result<CommitOutcome> write(uint64_t epoch, const Batch& batch);
  base::Result<uint64_t> write_leader(std::string_view candidate);

  std::string path_;
  std::string vfs_;
  OwnerLock lock_;
  std::unique_ptr<Connection> connection_;  // Null after a failure.
  std::optional<Leader> leader_;
  base::Error error_;
};

}  // namespace store
