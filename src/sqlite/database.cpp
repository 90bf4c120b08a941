#include "sqlite/database.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "base/format.h"
#include "base/log.h"
#include "sqlite/checksum_vfs.h"
#include "sqlite/wal_check.h"

namespace sqlite {
namespace {

constexpr int pages_per_step = 1024;
constexpr int64_t smallest_database = 512;  // SQLite's smallest page.
// An older file is written anew with checksums up to this size: some seconds of work.
constexpr int64_t most_rewritten_bytes = int64_t{256} << 20;

std::string directory_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::unexpected<base::Error> io_failure(const std::string& action, const std::string& path) {
  const int cause = errno;
  const bool full = cause == ENOSPC || cause == EDQUOT;
  return base::fail(std::string(full ? disk_full : io_error),
                    base::format("Cannot {} {}: {}.", action, path, std::strerror(cause)));
}

base::Result<void> sync_directory(const std::string& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return io_failure("open the directory", directory);
  const bool synced = ::fsync(file) == 0;
  const int cause = errno;
  ::close(file);
  errno = cause;
  if (!synced) return io_failure("sync the directory", directory);
  return {};
}

int open_flags(Access access) {
  // A Database belongs to one thread at a time, so SQLite need not lock for itself.
  switch (access) {
    case Access::Create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    case Access::Existing:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    case Access::ReadOnly:
      return SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
  }
  CHECK(false);
}

const char* synchronous_name(Synchronous synchronous) {
  switch (synchronous) {
    case Synchronous::Off:
      return "OFF";
    case Synchronous::Normal:
      return "NORMAL";
    case Synchronous::Full:
      return "FULL";
  }
  CHECK(false);
}

std::string_view code_of(int status) {
  if (status == SQLITE_IOERR_DATA) return corrupt;
  switch (status & 0xff) {
    case SQLITE_FULL:
      return disk_full;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return corrupt;
    case SQLITE_READONLY:
      return read_only;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return busy;
    case SQLITE_NOMEM:
      return out_of_memory;
    case SQLITE_CONSTRAINT:
      return constraint;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_PROTOCOL:
    case SQLITE_NOLFS:
      return io_error;
    default:
      return invalid_sql;
  }
}

// What a person does about it.
std::string_view remedy(std::string_view code) {
  if (code == disk_full) return "Free space on its disk; nothing that was acknowledged is lost.";
  if (code == corrupt) {
    return "Stop the program and restore the file from a backup, or salvage what is left with the "
           "sqlite3 tool's .recover command.";
  }
  if (code == read_only) return "Make the file and its directory writable for this user.";
  if (code == busy) return "Another process is writing to it; end that process.";
  if (code == io_error) return "Check the disk, the path and its permissions.";
  return "";
}

int last_error_of(sqlite3_file* file) {
  int error = 0;
  if (file == nullptr || file->pMethods == nullptr) return error;
  file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
  return error;
}

// What the system said when a file of the database was last read or written in vain; 0: nothing.
int system_error_of(sqlite3* handle) {
  // The one of the connection is often overwritten before SQLite looks at it.
  sqlite3_file* log = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (const int error = last_error_of(log); error != 0) return error;
  sqlite3_file* file = nullptr;
  sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (const int error = last_error_of(file); error != 0) return error;
  return sqlite3_system_errno(handle);
}

base::Error describe(const std::string& path, int status, std::string_view cause) {
  const std::string_view code = code_of(status);
  std::string message = base::format("SQLite file {}: {}.", path, cause);
  if (const std::string_view what_to_do = remedy(code); !what_to_do.empty()) {
    message += " ";
    message += what_to_do;
  }
  return {std::string(code), std::move(message)};
}

std::string without_checksum(int64_t page) {
  return base::format(
      "page {} of it has not the checksum it was written with: it is damaged, or was written by "
      "another program than berth",
      page);
}

// nullopt: there is none.
std::optional<int64_t> size_of(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return static_cast<int64_t>(status.st_size);
}

base::Result<void> remove_unfinished(const std::string& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_failure("remove", path);
  return {};
}

// Makes the file `path` with SQLite's header and nothing else in it, to become `wanted`.
base::Result<void> write_empty_database(const std::string& path, const std::string& wanted) {
  // SQLite would make the file readable for everybody, and the log beside it takes its mode.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return io_failure("create", wanted);
  ::close(file);
  sqlite3* handle = nullptr;
  int status = sqlite3_open_v2(path.c_str(), &handle, SQLITE_OPEN_READWRITE, checksum_vfs());
  if (status == SQLITE_OK) {
    reserve_checksums(handle);
    status = sqlite3_exec(handle, "PRAGMA user_version=0", nullptr, nullptr, nullptr);
  }
  const std::string cause = handle == nullptr ? "out of memory" : sqlite3_errmsg(handle);
  sqlite3_close(handle);
  if (status != SQLITE_OK) return base::fail(describe(wanted, status, cause));
  return {};
}

// A database file is never empty: it comes into being with its first page, in one step. One without
// a page therefore was cut off, and one that is gone while its write-ahead log is there was lost;
// SQLite itself would begin a new database in its place, and remove the log.
base::Result<void> make_sure_it_exists(const std::string& path) {
  const auto size = size_of(path);
  if (size && *size >= smallest_database) return {};
  if (size) {
    return base::fail(
        describe(path, SQLITE_CORRUPT, *size == 0 ? "the file is empty" : "the file is cut off"));
  }
  if (size_of(path + "-wal").value_or(0) > 0) {
    return base::fail(
        describe(path, SQLITE_CORRUPT, "the file is gone, and its write-ahead log is still there"));
  }
  const std::string unfinished = base::format("{}.new-{}", path, ::getpid());
  TRY_VOID(remove_unfinished(unfinished));
  const auto made = write_empty_database(unfinished, path);
  if (!made) {
    ::unlink(unfinished.c_str());
    return made;
  }
  // Not over a file that another process has made meanwhile.
  if (::renameat2(AT_FDCWD, unfinished.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE) != 0) {
    const int cause = errno;
    ::unlink(unfinished.c_str());
    errno = cause;
    if (cause != EEXIST) return io_failure("create", path);
  }
  return sync_directory(directory_of(path));
}

}  // namespace

bool is_storage_error(const base::Error& error) {
  constexpr std::array codes = {disk_full, corrupt,       read_only,  busy,
                                io_error,  out_of_memory, constraint, invalid_sql};
  return std::ranges::find(codes, error.code) != codes.end();
}

base::Result<std::unique_ptr<Database>> Database::open(const std::string& path,
                                                       const Options& options) {
  if (path == ":memory:") return connect(path, options);
  const bool is_owner = options.access == Access::Create;
  const bool is_ours = options.vfs.empty();
  if (is_ours && is_owner) TRY_VOID(make_sure_it_exists(path));
  if (is_ours && ::access(path.c_str(), R_OK) != 0) return io_failure("open", path);
  if (is_owner && options.synchronous == Synchronous::Full) TRY_VOID(check_wal(path + "-wal"));
  auto database = TRY(connect(path, options));
  if (!is_ours || !is_owner || has_checksums(database->handle_)) return database;
  if (!TRY(database->rewrite_with_checksums())) return database;
  database.reset();
  return connect(path, options);
}

base::Result<std::unique_ptr<Database>> Database::connect(const std::string& path,
                                                          const Options& options) {
  sqlite3* handle = nullptr;
  const int status = sqlite3_open_v2(path.c_str(), &handle, open_flags(options.access),
                                     options.vfs.empty() ? checksum_vfs() : options.vfs.c_str());
  if (handle == nullptr) return base::fail(describe(path, SQLITE_NOMEM, "out of memory"));
  std::unique_ptr<Database> database(new Database(path, handle));
  if (status != SQLITE_OK) return base::fail(database->error(status));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, static_cast<int>(options.busy_timeout.count()));
  // The first statement to touch the file: damage in its header shows here.
  if (options.access != Access::ReadOnly) {
    TRY_VOID(database->execute(base::format("PRAGMA journal_mode={}; PRAGMA synchronous={};",
                                            options.wal ? "WAL" : "DELETE",
                                            synchronous_name(options.synchronous))));
  }
  TRY_VOID(database->execute("PRAGMA foreign_keys=ON;"));
  TRY(database->user_version());
  return database;
}

base::Result<bool> Database::rewrite_with_checksums() {
  const int64_t bytes =
      TRY(query_int64("SELECT page_count * page_size FROM pragma_page_count, "
                      "pragma_page_size"));
  if (bytes > most_rewritten_bytes) {
    base::log_warning(
        "{} was made by an older berth, without checksums, and is too big ({} MiB) "
        "to be written anew at a start: damage to its bytes may go unnoticed",
        path_, bytes >> 20);
    return false;
  }
  // Nobody writes to it from here on, and no log is left that would be taken for the new file's.
  TRY_VOID(execute("PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE"));
  auto first_write = TRY(Transaction::begin(*this));
  TRY_VOID(first_write.commit());
  const std::string unfinished = base::format("{}.new-{}", path_, ::getpid());
  TRY_VOID(remove_unfinished(unfinished));
  reserve_checksums(handle_);
  const int file = ::open(unfinished.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return io_failure("create", unfinished);
  auto written = [&]() -> base::Result<void> {
    auto vacuum = TRY(prepare("VACUUM INTO ?"));
    TRY_VOID(vacuum.bind_text(1, unfinished).run());
    if (::fsync(file) != 0) return io_failure("sync", unfinished);
    if (::rename(unfinished.c_str(), path_.c_str()) != 0) return io_failure("replace", path_);
    return sync_directory(directory_of(path_));
  }();
  ::close(file);
  if (written) return true;
  ::unlink(unfinished.c_str());
  return base::fail(std::move(written).error());
}

Database::~Database() {
  // Fails only while a statement lives, which its contract forbids.
  CHECK(sqlite3_close(handle_) == SQLITE_OK);
}

base::Error Database::error(int status) const {
  std::string cause = sqlite3_errmsg(handle_);
  if (const auto page = damaged_page(handle_); page && status == SQLITE_IOERR_DATA) {
    cause = without_checksum(*page);
  }
  if (code_of(status) == io_error) {
    const int system_error = system_error_of(handle_);
    if (system_error != 0) cause += base::format(" ({})", std::strerror(system_error));
    // The disk is well, and does not take anything.
    const bool refused = system_error == EROFS || system_error == EPERM || system_error == EACCES;
    if (refused) status = SQLITE_READONLY;
  }
  return describe(path_, status, cause);
}

base::Result<void> Database::execute(const std::string& sql) {
  const int status = sqlite3_exec(handle_, sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK) return base::fail(error(status));
  return {};
}

base::Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* handle = nullptr;
  CHECK(sql.size() < size_t{1} << 20);
  const int status = sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &handle, nullptr);
  if (status != SQLITE_OK) return base::fail(error(status));
  CHECK(handle != nullptr);  // Null for a text without a statement.
  return Statement(this, handle);
}

base::Result<int64_t> Database::query_int64(std::string_view sql) {
  Statement statement = TRY(prepare(sql));
  if (!TRY(statement.step())) return 0;
  return statement.column_int64(0);
}

int64_t Database::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(handle_);
}
int64_t Database::changes() const {
  return sqlite3_changes64(handle_);
}

base::Result<int64_t> Database::user_version() {
  return query_int64("PRAGMA user_version");
}

base::Result<void> Database::set_user_version(int64_t version) {
  return execute(base::format("PRAGMA user_version={}", version));
}

base::Result<void> Database::quick_check() {
  return check("PRAGMA quick_check(1)");
}

base::Result<void> Database::integrity_check() {
  return check("PRAGMA integrity_check(1)");
}

std::unexpected<base::Error> Statement::damaged(std::string_view finding) const {
  return base::fail(
      describe(database_->path(), SQLITE_CORRUPT, "it is damaged: " + std::string(finding)));
}

base::Result<void> Database::check(std::string_view pragma) {
  Statement statement = TRY(prepare(pragma));
  if (!TRY(statement.step())) return {};
  const std::string finding(statement.column_text(0));
  if (finding == "ok") return {};
  if (const auto page = damaged_page(handle_)) {
    return base::fail(describe(path_, SQLITE_CORRUPT, without_checksum(*page)));
  }
  return base::fail(describe(path_, SQLITE_CORRUPT, "it is damaged: " + finding));
}

base::Result<void> Database::checkpoint() {
  Statement statement = TRY(prepare("PRAGMA wal_checkpoint(TRUNCATE)"));
  // The row's first column is 1 when a reader or another writer kept it from ending.
  const bool has_row = TRY(statement.step());
  if (has_row && statement.column_int64(0) != 0) {
    return base::fail(describe(path_, SQLITE_BUSY, "its write-ahead log cannot be emptied"));
  }
  return {};
}

base::Result<void> Database::copy_into(Database& copy, const Progress& progress) {
  sqlite3_backup* const backup = sqlite3_backup_init(copy.handle_, "main", handle_, "main");
  if (backup == nullptr) return base::fail(copy.error(sqlite3_errcode(copy.handle_)));
  follow_checksums(copy.handle_, handle_);
  int status = SQLITE_OK;
  while (status == SQLITE_OK) {
    status = sqlite3_backup_step(backup, pages_per_step);
    const auto pages = static_cast<uint64_t>(sqlite3_backup_pagecount(backup));
    const auto left = static_cast<uint64_t>(sqlite3_backup_remaining(backup));
    if (progress) progress(pages - left, pages);
  }
  const int finished = sqlite3_backup_finish(backup);
  if (status == SQLITE_DONE) return {};
  return base::fail(copy.error(finished == SQLITE_OK ? status : finished));
}

base::Result<void> Database::backup_to(const std::string& destination, const Progress& progress) {
  const std::string unfinished = destination + ".unfinished";
  TRY_VOID(remove_unfinished(unfinished));
  {
    // A rollback journal, so that the copy is one file from the start.
    const auto copy = TRY(Database::open(unfinished, {.wal = false}));
    // One snapshot for all steps: what others write meanwhile would have it begin again each time.
    const auto snapshot = TRY(ReadTransaction::begin(*this));
    TRY_VOID(copy_into(*copy, progress));
  }
  if (::rename(unfinished.c_str(), destination.c_str()) != 0) {
    return io_failure("rename to " + destination, unfinished);
  }
  return sync_directory(directory_of(destination));
}

base::Result<ReadTransaction> ReadTransaction::begin(Database& database) {
  TRY_VOID(database.execute("BEGIN"));
  ReadTransaction transaction(&database);
  // BEGIN takes no lock yet; the first read does.
  TRY(database.query_int64("SELECT count(*) FROM sqlite_master"));
  return transaction;
}

ReadTransaction::ReadTransaction(ReadTransaction&& other) noexcept
    : database_(std::exchange(other.database_, nullptr)) {}

ReadTransaction::~ReadTransaction() {
  if (database_ == nullptr || sqlite3_get_autocommit(database_->handle_) != 0) return;
  // It has written nothing, so nothing can be lost by a failure.
  if (const auto done = database_->execute("ROLLBACK"); !done) return;
}

base::Result<Transaction> Transaction::begin(Database& database) {
  TRY_VOID(database.execute("BEGIN IMMEDIATE"));
  return Transaction(&database);
}

Transaction::Transaction(Transaction&& other) noexcept : database_(other.database_) {
  other.database_ = nullptr;
}

Transaction::~Transaction() {
  if (database_ == nullptr) return;
  // After some errors SQLite has rolled back by itself, and a second time would be an error.
  if (sqlite3_get_autocommit(database_->handle_) != 0) return;
  // Nothing is left to be done when this fails: the next open rolls back.
  if (const auto done = database_->execute("ROLLBACK"); !done) return;
}

base::Result<void> Transaction::commit() {
  CHECK(database_ != nullptr);
  TRY_VOID(database_->execute("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace sqlite
