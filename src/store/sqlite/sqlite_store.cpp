#include "store/sqlite/sqlite_store.h"

#include <utility>

#include "base/format.h"
#include "sqlite/commit_count.h"
#include "store/batch.h"
#include "store/sqlite/layout.h"

namespace store {

struct SqliteStore::Connection {
  std::unique_ptr<sqlite::Database> database;  // First, so that it goes last.
  sqlite::Statement put;
  sqlite::Statement erase;
  sqlite::Statement epoch;
  sqlite::Statement set_epoch;
  sqlite::Statement set_leader;
  sqlite::CommitCount count;
  bool checked = false;  // For damage.
};

base::Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& path,
                                                             const std::string& vfs) {
  OwnerLock lock = TRY(OwnerLock::acquire(path));
  std::unique_ptr<SqliteStore> store(new SqliteStore(path, vfs, std::move(lock)));
  TRY_VOID(store->connect());
  return store;
}

SqliteStore::SqliteStore(std::string path, std::string vfs, OwnerLock lock)
    : path_(std::move(path)), vfs_(std::move(vfs)), lock_(std::move(lock)) {}

SqliteStore::~SqliteStore() = default;

base::Result<void> SqliteStore::connect() {
  if (connection_) return {};
  auto database = TRY(sqlite::Database::open(
      path_, {.synchronous = sqlite::Synchronous::Full, .wal = true, .vfs = vfs_}));
  TRY_VOID(prepare_layout(*database, upgrades()));
  // What a failed or cut-off commit left in the log is either dropped or, from here on, as durable
  // as if it had been acknowledged. Rewriting it is needed: a kernel that failed to sync a page
  // once says that it is synced the next time.
  TRY_VOID(database->checkpoint());
  auto put = TRY(database->prepare(
      "INSERT INTO records VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value"));
  auto erase = TRY(database->prepare("DELETE FROM records WHERE key = ?"));
  auto epoch = TRY(database->prepare("SELECT value FROM meta WHERE name = 'epoch'"));
  auto set_epoch = TRY(database->prepare("INSERT OR REPLACE INTO meta VALUES('epoch', ?)"));
  auto set_leader = TRY(database->prepare("INSERT OR REPLACE INTO meta VALUES('leader', ?)"));
  auto count = TRY(sqlite::CommitCount::begin(*database));
  connection_ = std::make_unique<Connection>(
      Connection{std::move(database), std::move(put), std::move(erase), std::move(epoch),
                 std::move(set_epoch), std::move(set_leader), std::move(count)});
  return {};
}

base::Result<uint64_t> SqliteStore::write_leader(std::string_view candidate) {
  TRY_VOID(connect());
  auto transaction = TRY(sqlite::Transaction::begin(*connection_->database));
  const bool found = TRY(connection_->epoch.step());
  const int64_t epoch = (found ? connection_->epoch.column_int64(0) : 0) + 1;
  connection_->epoch.reset();
  TRY_VOID(connection_->set_epoch.bind_int64(1, epoch).run());
  TRY_VOID(connection_->set_leader.bind_text(1, candidate).run());
  TRY_VOID(transaction.commit());
  return static_cast<uint64_t>(epoch);
}

base::Result<uint64_t> SqliteStore::campaign(std::string_view candidate, base::Milliseconds) {
  leader_.reset();
  const auto epoch = write_leader(candidate);
  if (!epoch) {
    connection_.reset();
    return epoch;
  }
  leader_ = Leader{*epoch, std::string(candidate)};
  return *epoch;
}

base::Result<std::vector<Record>> SqliteStore::load() {
  TRY_VOID(connect());
  if (!connection_->checked) TRY_VOID(connection_->database->quick_check());
  connection_->checked = true;
  auto select = TRY(connection_->database->prepare("SELECT key, value FROM records ORDER BY key"));
  std::vector<Record> records;
  while (TRY(select.step())) {
    records.push_back({std::string(select.column_text(0)), std::string(select.column_text(1))});
  }
  return records;
}

base::Result<CommitOutcome> SqliteStore::write(uint64_t epoch, const Batch& batch) {
  if (!leader_ || leader_->epoch != epoch) return CommitOutcome::LostLeadership;
  TRY_VOID(connect());
  auto transaction = TRY(sqlite::Transaction::begin(*connection_->database));
  // Somebody may have put another file in place, or a backup.
  const bool found = TRY(connection_->epoch.step());
  const int64_t present = found ? connection_->epoch.column_int64(0) : 0;
  connection_->epoch.reset();
  if (std::cmp_not_equal(present, epoch)) return CommitOutcome::LostLeadership;
  for (const Put& put : batch.puts) {
    TRY_VOID(connection_->put.bind_text(1, put.key).bind_text(2, put.value).run());
  }
  for (const std::string& key : batch.deletes) {
    TRY_VOID(connection_->erase.bind_text(1, key).run());
  }
  TRY_VOID(connection_->count.advance());
  TRY_VOID(transaction.commit());
  connection_->count.acknowledge();
  return CommitOutcome::Committed;
}

CommitOutcome SqliteStore::commit(uint64_t epoch, const Batch& batch) {
  check_batch(batch, limits());
  auto outcome = write(epoch, batch);
  if (!outcome) {
    // The epoch is over as well: its holder must not go on before it has loaded what is in.
    error_ = std::move(outcome.error());
    leader_.reset();
    connection_.reset();
    return CommitOutcome::Unknown;
  }
  if (*outcome == CommitOutcome::LostLeadership) {
    error_ = {"NotLeader", base::format("Epoch {} does not lead in {}.", epoch, path_)};
  }
  return *outcome;
}

RenewOutcome SqliteStore::renew(uint64_t epoch) {
  if (leader_ && leader_->epoch == epoch) return RenewOutcome::Renewed;
  error_ = {"NotLeader", base::format("Epoch {} does not lead in {}.", epoch, path_)};
  return RenewOutcome::Lost;
}

void SqliteStore::resign(uint64_t epoch) {
  if (!leader_ || leader_->epoch != epoch) return;
  leader_.reset();
  // Only people read this row. Without it the lock's end says the same.
  if (!connection_ || !connection_->set_leader.bind_text(1, "").run()) connection_.reset();
}

base::Result<std::optional<Leader>> SqliteStore::watch_leader(uint64_t, base::Milliseconds) {
  return leader_;
}

base::Result<void> SqliteStore::backup_to(const std::string& destination) {
  TRY_VOID(connect());
  return connection_->database->backup_to(destination);
}

}  // namespace store
