// The one door to SQLite: database, statement, transaction.
//
// Everything of one database belongs to one thread at a time; it may be handed to another thread as
// a whole. Errors carry one of the codes below and a sentence that names the file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

struct sqlite3;
struct sqlite3_stmt;

namespace sqlite {

inline constexpr std::string_view disk_full = "DiskFull";
inline constexpr std::string_view corrupt = "Corrupt";  // Damaged, or not SQLite's at all.
inline constexpr std::string_view read_only = "ReadOnly";
inline constexpr std::string_view busy = "Busy";  // Another process holds the lock.
inline constexpr std::string_view io_error = "IoError";
inline constexpr std::string_view out_of_memory = "OutOfMemory";
inline constexpr std::string_view constraint = "Constraint";   // UNIQUE, NOT NULL, ...
inline constexpr std::string_view invalid_sql = "InvalidSql";  // A mistake in the calling code.

// One of the codes above: the file's own failure, which no client has caused.
bool is_storage_error(const base::Error& error);

// How hard a commit is. Full: on the disk when commit() returns. Normal: in WAL mode a power cut
// may take the last commits, never the integrity. Source:
// sqlite.org/pragma.html#pragma_synchronous.
enum class Synchronous : uint8_t { Off, Normal, Full };

enum class Access : uint8_t {
  Create,    // Read and write; made when it does not exist.
  Existing,  // Read and write; must exist.
  ReadOnly,
};

struct Options {
  Synchronous synchronous = Synchronous::Full;
  bool wal = true;
  base::Milliseconds busy_timeout{5'000};
  Access access = Access::Create;
  std::string vfs = {};  // The name of a registered VFS; empty: the system's files.
};

class Database;

// A prepared statement. Use: bind, then step() while it answers true, or run(). It is ready for new
// values once step() answered false or failed, or after reset(). Must not outlive its Database.
class Statement {
 public:
  Statement(Statement&& other) noexcept;
  Statement& operator=(Statement&& other) noexcept;
  ~Statement();

  // Parameters count from 1. The bytes are copied. A failure (too big, no memory) shows at step().
  Statement& bind_int64(int index, int64_t value);
  Statement& bind_double(int index, double value);
  Statement& bind_text(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);
  Statement& bind_null(int index);

  // True: a row is there. False: done; the statement is reset and its bindings are cleared.
  base::Result<bool> step();
  // For statements whose rows do not matter: steps to the end.
  base::Result<void> run();
  // Gives up the rest of the rows and clears the bindings.
  void reset();

  // Columns of the current row, counted from 0. Views are valid until the next step() or reset().
  int64_t column_int64(int index) const;
  double column_double(int index) const;
  std::string_view column_text(int index) const;  // Bytes of a text or a blob; empty for NULL.
  bool column_is_null(int index) const;

  // "Corrupt": what it read cannot be. `finding` is part of the sentence that names the file.
  std::unexpected<base::Error> damaged(std::string_view finding) const;

 private:
  friend class Database;
  Statement(Database* database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}

  // Keeps the first failure of a bind for step().
  Statement& note(int status);

  Database* database_;
  sqlite3_stmt* handle_;
  int bind_status_ = 0;
};

// An open database file. Not movable, since statements point to it; open() hands out a pointer.
class Database {
 public:
  // A new file gets mode 0600, and its directory is synced, so that the file itself survives a
  // power cut. A file that is there and empty is damaged, and so is one that is gone while its log
  // is there: neither is begun anew. ":memory:" is a private database in memory.
  // The file's pages carry checksums (checksum_vfs.h). With Access::Create, whose caller is the
  // only one to write to the file, the write-ahead log is looked through for lost commits
  // (wal_check.h), and an older file without checksums is written anew.
  // Errors: "IoError" with the cause (no such directory, not permitted), "Corrupt", "Busy".
  static base::Result<std::unique_ptr<Database>> open(const std::string& path,
                                                      const Options& options);
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  ~Database();

  const std::string& path() const { return path_; }

  // Runs one or several statements without parameters: schema, pragmas.
  base::Result<void> execute(const std::string& sql);
  base::Result<Statement> prepare(std::string_view sql);
  // The first column of the first row of `sql` as an integer; 0 when there is no row.
  base::Result<int64_t> query_int64(std::string_view sql);

  int64_t last_insert_rowid() const;
  // Rows that the last INSERT, UPDATE or DELETE touched.
  int64_t changes() const;

  // A number in the file's header that belongs to the application; 0 in a new file.
  base::Result<int64_t> user_version();
  base::Result<void> set_user_version(int64_t version);

  // Reads the whole file. "Corrupt" with SQLite's first finding and what to do. Cost: about a
  // second for 500 MiB. Source: sqlite.org/pragma.html#pragma_quick_check.
  base::Result<void> quick_check();
  // The same, and whether each index has what its table has. Cost: several times as much.
  base::Result<void> integrity_check();
  // Moves the whole write-ahead log into the database file, synced, and empties it.
  base::Result<void> checkpoint();
  // A consistent copy, made beside `destination` and put there in one step, replacing what was
  // there. Others may write meanwhile. `progress` hears from time to time how many pages of how
  // many are copied.
  using Progress = std::function<void(uint64_t done, uint64_t pages)>;
  base::Result<void> backup_to(const std::string& destination, const Progress& progress = {});

 private:
  friend class Statement;
  friend class Transaction;
  friend class ReadTransaction;
  Database(std::string path, sqlite3* handle) : path_(std::move(path)), handle_(handle) {}

  static base::Result<std::unique_ptr<Database>> connect(const std::string& path,
                                                         const Options& options);
  // False: it is too big for that and was left as it is. After true it has to be opened anew.
  base::Result<bool> rewrite_with_checksums();
  base::Result<void> check(std::string_view pragma);
  base::Result<void> copy_into(Database& copy, const Progress& progress);
  // The error of the last failed call on this database, in this house's words.
  base::Error error(int status) const;

  std::string path_;
  sqlite3* handle_;
};

// Sees the database as it stands at begin(), whatever others write, until it is destroyed. Must not
// outlive its Database.
class ReadTransaction {
 public:
  static base::Result<ReadTransaction> begin(Database& database);
  ReadTransaction(ReadTransaction&& other) noexcept;
  ReadTransaction& operator=(ReadTransaction&&) = delete;
  ~ReadTransaction();

 private:
  explicit ReadTransaction(Database* database) : database_(database) {}

  Database* database_;  // Null once moved from.
};

// Rolled back when it is destroyed without a commit(). Must not outlive its Database.
class Transaction {
 public:
  // Takes the write lock at once (BEGIN IMMEDIATE), so that no later statement fails for it.
  static base::Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept;
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // After an error the changes may or may not be found when the file is opened the next time.
  base::Result<void> commit();

 private:
  explicit Transaction(Database* database) : database_(database) {}

  Database* database_;  // Null once committed or moved from.
};

}  // namespace sqlite
