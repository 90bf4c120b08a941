#include "sqlite/database.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "sqlite/faulty_vfs.h"

namespace sqlite {
namespace {

// A directory of its own for every test.
class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "berth-sqlite-XXXXXX").string();
    CHECK(::mkdtemp(pattern.data()) != nullptr);
    directory_ = pattern;
    path_ = directory_ / "test.db";
  }
  ~DatabaseTest() override { std::filesystem::remove_all(directory_); }

  std::unique_ptr<Database> open(const Options& options = {}) {
    auto database = Database::open(path_, options);
    CHECK(database);
    return std::move(*database);
  }

  std::filesystem::path directory_;
  std::filesystem::path path_;
};

TEST_F(DatabaseTest, what_was_written_is_read_back_after_reopening) {
  const std::string binary("a\0b\xff", 4);
  {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t(i INTEGER, d REAL, s TEXT, b BLOB, n TEXT)"));
    auto insert = database->prepare("INSERT INTO t VALUES(?, ?, ?, ?, ?)").value();
    insert.bind_int64(1, INT64_MIN).bind_double(2, 0.5).bind_text(3, "größe").bind_blob(4, binary);
    ASSERT_TRUE(insert.bind_null(5).run());
    EXPECT_EQ(database->changes(), 1);
    EXPECT_EQ(database->last_insert_rowid(), 1);
  }
  const auto database = open();
  auto select = database->prepare("SELECT i, d, s, b, n FROM t").value();
  ASSERT_TRUE(select.step().value());
  EXPECT_EQ(select.column_int64(0), INT64_MIN);
  EXPECT_EQ(select.column_double(1), 0.5);
  EXPECT_EQ(select.column_text(2), "größe");
  EXPECT_EQ(select.column_text(3), binary);
  EXPECT_TRUE(select.column_is_null(4));
  EXPECT_FALSE(select.column_is_null(3));
  EXPECT_FALSE(select.step().value());
}

TEST_F(DatabaseTest, an_empty_text_is_not_null) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(s TEXT NOT NULL, b BLOB NOT NULL)"));
  auto insert = database->prepare("INSERT INTO t VALUES(?, ?)").value();
  ASSERT_TRUE(insert.bind_text(1, std::string_view{}).bind_blob(2, std::string_view{}).run());
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM t WHERE s = ''").value(), 1);
}

TEST_F(DatabaseTest, a_statement_is_ready_again_after_its_last_row_and_forgets_its_values) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a INTEGER, b INTEGER)"));
  auto insert = database->prepare("INSERT INTO t VALUES(?, ?)").value();
  ASSERT_TRUE(insert.bind_int64(1, 1).bind_int64(2, 2).run());
  ASSERT_TRUE(insert.bind_int64(1, 3).run());
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM t WHERE b IS NULL").value(), 1);
}

TEST_F(DatabaseTest, a_new_file_is_private_and_durable_by_default) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a)"));
  for (const char* suffix : {"", "-wal"}) {
    struct stat status{};
    ASSERT_EQ(::stat((path_.string() + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777, 0600U) << suffix;
  }
  EXPECT_EQ(database->query_int64("PRAGMA synchronous").value(), 2);
}

TEST_F(DatabaseTest, a_transaction_is_rolled_back_unless_committed) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a)"));
  {
    const auto transaction = Transaction::begin(*database).value();
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES(1)"));
  }
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM t").value(), 0);
  {
    auto transaction = Transaction::begin(*database).value();
    ASSERT_TRUE(database->execute("INSERT INTO t VALUES(2)"));
    ASSERT_TRUE(transaction.commit());
  }
  EXPECT_EQ(database->query_int64("SELECT a FROM t").value(), 2);
}

TEST_F(DatabaseTest, a_second_writer_is_told_that_the_file_is_busy) {
  const auto first = open();
  const auto second = open({.busy_timeout = base::Milliseconds{0}});
  const auto transaction = Transaction::begin(*first).value();
  const auto refused = Transaction::begin(*second);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, busy);
  EXPECT_NE(refused.error().message.find(path_.string()), std::string::npos);
}

TEST_F(DatabaseTest, a_missing_directory_is_named) {
  const auto refused = Database::open(directory_ / "none" / "x.db", {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, io_error);
  EXPECT_EQ(refused.error().message, "Cannot create " + (directory_ / "none" / "x.db").string() +
                                         ": No such file or directory.");
}

TEST_F(DatabaseTest, an_existing_file_is_demanded_or_read_only_on_request) {
  EXPECT_FALSE(Database::open(path_, {.access = Access::Existing}));
  EXPECT_FALSE(Database::open(path_, {.access = Access::ReadOnly}));
  EXPECT_FALSE(std::filesystem::exists(path_));
  ASSERT_TRUE(open()->execute("CREATE TABLE t(a)"));
  const auto database = open({.access = Access::ReadOnly});
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM t").value(), 0);
  const auto refused = database->execute("INSERT INTO t VALUES(1)");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, read_only);
}

TEST_F(DatabaseTest, a_file_that_is_not_sqlites_is_corrupt) {
  std::ofstream(path_) << std::string(10'000, 'x');
  const auto refused = Database::open(path_, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, corrupt);
  EXPECT_NE(refused.error().message.find("file is not a database"), std::string::npos);
}

TEST_F(DatabaseTest, damage_inside_is_found_by_the_check) {
  {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t(a TEXT)"));
    auto insert = database->prepare("INSERT INTO t VALUES(?)").value();
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(insert.bind_text(1, std::string(500, 'a')).run());
    ASSERT_TRUE(database->quick_check());
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(3 * 4096);
  file << std::string(4096, '\x5a');
  file.close();
  const auto found = open()->quick_check();
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, corrupt);
  EXPECT_NE(found.error().message.find("restore the file from a backup"), std::string::npos);
}

// A file as an older program left it: its pages have no checksums.
void make_plain(const std::filesystem::path& path) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  EXPECT_EQ(sqlite3_exec(handle,
                         "PRAGMA journal_mode=WAL; PRAGMA user_version=5; PRAGMA "
                         "application_id=77; CREATE TABLE t(s TEXT PRIMARY KEY); WITH RECURSIVE "
                         "n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000) INSERT "
                         "INTO t SELECT i || 'abcdefghijklmnopqrstuvwxyz' FROM n",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(handle);
}

int64_t reserved_in_header(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(20);
  return file.get();
}

TEST_F(DatabaseTest, an_older_file_gets_checksums_and_keeps_what_is_in_it) {
  make_plain(path_);
  ASSERT_EQ(reserved_in_header(path_), 0);
  {
    const auto reader = open({.access = Access::ReadOnly});
    EXPECT_EQ(reader->query_int64("SELECT count(*) FROM t").value(), 2000);
  }
  EXPECT_EQ(reserved_in_header(path_), 0);
  const auto database = open();
  EXPECT_EQ(reserved_in_header(path_), 8);
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM t").value(), 2000);
  EXPECT_EQ(database->user_version().value(), 5);
  EXPECT_EQ(database->query_int64("PRAGMA application_id").value(), 77);
  EXPECT_TRUE(database->integrity_check());
  struct stat status{};
  ASSERT_EQ(::stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_), {}), 3);  // -wal, -shm
}

TEST_F(DatabaseTest, an_older_file_that_another_program_has_open_is_not_written_anew) {
  make_plain(path_);
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "BEGIN; SELECT count(*) FROM t", nullptr, nullptr, nullptr),
            SQLITE_OK);
  const auto refused = Database::open(path_, {.busy_timeout = base::Milliseconds(10)});
  sqlite3_close(other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, busy);
  EXPECT_EQ(reserved_in_header(path_), 0);
  EXPECT_EQ(open()->query_int64("SELECT count(*) FROM t").value(), 2000);
}

TEST_F(DatabaseTest, a_copy_has_checksums_when_its_original_has) {
  const std::filesystem::path copy = directory_ / "copy.db";
  const std::filesystem::path plain = directory_ / "plain.db";
  make_plain(plain);
  const auto older = Database::open(plain, {.access = Access::ReadOnly}).value();
  ASSERT_TRUE(older->backup_to(copy));
  EXPECT_EQ(reserved_in_header(copy), 0);
  EXPECT_TRUE(Database::open(copy, {.wal = false}).value()->integrity_check());
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(s TEXT); INSERT INTO t VALUES('in the log')"));
  ASSERT_TRUE(database->backup_to(copy));
  EXPECT_EQ(reserved_in_header(copy), 8);
  const auto copied = Database::open(copy, {.access = Access::ReadOnly}).value();
  EXPECT_EQ(copied->query_int64("SELECT count(*) FROM t").value(), 1);
  EXPECT_TRUE(copied->integrity_check());
}

TEST_F(DatabaseTest, a_damaged_page_is_refused_when_it_is_read_and_named) {
  {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t(s TEXT)"));
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(database->execute("INSERT INTO t VALUES('" + std::string(3000, 'x') + "')"));
    }
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(5 * 4096 + 1000);
  file.put('y');
  file.close();
  const auto database = open();
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM sqlite_master").value(), 1);
  const auto read = database->query_int64("SELECT sum(length(s)) FROM t");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, corrupt);
  EXPECT_NE(read.error().message.find("page 6 "), std::string::npos) << read.error().message;
  EXPECT_NE(read.error().message.find("backup"), std::string::npos);
}

TEST_F(DatabaseTest, sqlites_own_programs_read_the_file) {
  {
    const auto database = open();
    ASSERT_TRUE(database->execute("CREATE TABLE t(s TEXT); INSERT INTO t VALUES('a')"));
  }
  sqlite3* plain = nullptr;
  ASSERT_EQ(sqlite3_open(path_.c_str(), &plain), SQLITE_OK);
  EXPECT_EQ(
      sqlite3_exec(plain, "SELECT * FROM t; PRAGMA integrity_check", nullptr, nullptr, nullptr),
      SQLITE_OK);
  sqlite3_close(plain);
}

TEST_F(DatabaseTest, a_full_file_is_a_full_disk_and_goes_on_once_there_is_room) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a TEXT); PRAGMA max_page_count=10"));
  auto insert = database->prepare("INSERT INTO t VALUES(?)").value();
  base::Result<void> result;
  for (int i = 0; i < 100 && result; ++i) result = insert.bind_text(1, std::string(900, 'a')).run();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, disk_full);
  ASSERT_TRUE(database->execute("PRAGMA max_page_count=1000"));
  EXPECT_TRUE(insert.bind_text(1, std::string(900, 'a')).run());
}

// A limit of this process on the size of files, for as long as it lives.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    before_signal_ = ::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit{bytes, before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, before_signal_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
  void (*before_signal_)(int) = nullptr;
};

TEST_F(DatabaseTest, a_write_that_the_system_refuses_is_told_with_the_systems_reason) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a TEXT)"));
  auto insert = database->prepare("INSERT INTO t VALUES(?)").value();
  base::Result<void> result;
  {
    const FileSizeLimit limit(8192);
    result = insert.bind_text(1, std::string(50'000, 'a')).run();
  }
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, io_error);
  EXPECT_NE(result.error().message.find("(File too large)"), std::string::npos)
      << result.error().message;
  EXPECT_TRUE(insert.bind_text(1, std::string(50'000, 'a')).run());
}

TEST_F(DatabaseTest, a_broken_rule_and_broken_sql_are_told_apart) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a INTEGER UNIQUE)"));
  ASSERT_TRUE(database->execute("INSERT INTO t VALUES(1)"));
  EXPECT_EQ(database->execute("INSERT INTO t VALUES(1)").error().code, constraint);
  EXPECT_EQ(database->prepare("SELECT b FROM t").error().code, invalid_sql);
}

TEST_F(DatabaseTest, the_user_version_is_kept) {
  EXPECT_EQ(open()->user_version().value(), 0);
  ASSERT_TRUE(open()->set_user_version(7));
  EXPECT_EQ(open()->user_version().value(), 7);
}

TEST_F(DatabaseTest, a_backup_of_a_database_in_use_is_a_whole_database) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a); INSERT INTO t VALUES(1)"));
  const std::string copy = directory_ / "copy.db";
  ASSERT_TRUE(database->backup_to(copy));
  ASSERT_TRUE(database->execute("INSERT INTO t VALUES(2)"));
  ASSERT_TRUE(database->backup_to(copy));  // Replaces the first one.
  ASSERT_TRUE(database->execute("INSERT INTO t VALUES(3)"));
  const auto restored = Database::open(copy, {}).value()->query_int64("SELECT sum(a) FROM t");
  EXPECT_EQ(restored.value(), 3);
  EXPECT_FALSE(std::filesystem::exists(copy + ".unfinished"));
  EXPECT_FALSE(database->backup_to(directory_ / "none" / "copy.db"));
}

TEST_F(DatabaseTest, a_backup_is_of_one_moment_whatever_is_written_meanwhile) {
  const auto writer = open();
  ASSERT_TRUE(writer->execute("CREATE TABLE t(a TEXT, n INTEGER)"));
  auto insert = writer->prepare("INSERT INTO t VALUES(?, 1)").value();
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(insert.bind_text(1, std::string(3000, 'a')).run());
  const auto reader = open({.access = Access::ReadOnly});
  const std::string copy = directory_ / "copy.db";
  uint64_t last = 0;
  int calls = 0;
  ASSERT_TRUE(reader->backup_to(copy, [&](uint64_t done, uint64_t pages) {
    EXPECT_GT(done, last);
    EXPECT_LE(done, pages);
    last = done;
    ++calls;
    EXPECT_TRUE(writer->execute("UPDATE t SET n = n + 1"));
  }));
  EXPECT_GT(calls, 2);
  const auto restored = Database::open(copy, {}).value();
  EXPECT_EQ(restored->query_int64("SELECT max(n) FROM t").value(), 1);
  EXPECT_EQ(restored->query_int64("SELECT min(n) FROM t").value(), 1);
  EXPECT_EQ(writer->query_int64("SELECT min(n) FROM t").value(), 1 + calls);
}

TEST_F(DatabaseTest, an_empty_file_was_cut_off_and_is_not_begun_anew) {
  std::ofstream(path_).close();
  const auto refused = Database::open(path_, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, corrupt);
  EXPECT_NE(refused.error().message.find("the file is empty"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path_), 0U);
}

TEST_F(DatabaseTest, a_new_file_comes_into_being_whole) {
  open();
  EXPECT_GE(std::filesystem::file_size(path_), 512U);
  const std::filesystem::directory_iterator entries(directory_);
  for (const auto& entry : entries) {
    EXPECT_EQ(entry.path().string().find(".new-"), std::string::npos) << entry.path();
  }
}

TEST_F(DatabaseTest, a_checkpoint_empties_the_write_ahead_log) {
  const auto database = open();
  ASSERT_TRUE(database->execute("CREATE TABLE t(a)"));
  EXPECT_GT(std::filesystem::file_size(path_.string() + "-wal"), 0U);
  ASSERT_TRUE(database->checkpoint());
  EXPECT_EQ(std::filesystem::file_size(path_.string() + "-wal"), 0U);
}

// One transfer between two accounts for every number, with the nth disk operation failing.
struct Transfers {
  explicit Transfers(const std::string& path, const FaultyVfs& vfs)
      : database(Database::open(path, {.vfs = vfs.name()})) {}

  base::Result<void> run(int64_t number) {
    auto transaction = TRY(Transaction::begin(**database));
    TRY_VOID((*database)->execute("UPDATE t SET a = " + std::to_string(number) + " WHERE k = 1"));
    TRY_VOID((*database)->execute("UPDATE t SET a = " + std::to_string(number) + " WHERE k = 2"));
    return transaction.commit();
  }

  base::Result<std::unique_ptr<Database>> database;
};

// Fails every disk operation in turn until a run meets no fault any more.
void acknowledged_transfers_survive(const std::string& path, Fault fault, bool power_cut) {
  FaultyVfs vfs("faulty-transfers");
  uint64_t nth = 1;
  for (bool met = true; met; ++nth) {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path + suffix);
    {
      const auto fresh = Database::open(path, {});
      ASSERT_TRUE(
          fresh.value()->execute("CREATE TABLE t(k INTEGER PRIMARY KEY, a INTEGER);"
                                 "INSERT INTO t VALUES(1, 0), (2, 0)"));
    }
    int64_t acknowledged = 0;
    int64_t tried = 0;
    {
      vfs.fail_at(nth, fault);
      Transfers transfers(path, vfs);
      while (transfers.database && tried < 5) {
        ++tried;
        if (!transfers.run(tried)) break;
        acknowledged = tried;
      }
      met = vfs.failed();
      if (fault != Fault::Crash) vfs.heal();
    }
    if (power_cut) vfs.cut_power();
    vfs.heal();
    const auto reopened = Database::open(path, {.vfs = vfs.name()});
    ASSERT_TRUE(reopened) << nth;
    ASSERT_TRUE((*reopened)->quick_check()) << nth;
    const int64_t first = (*reopened)->query_int64("SELECT a FROM t WHERE k = 1").value();
    EXPECT_EQ(first, (*reopened)->query_int64("SELECT a FROM t WHERE k = 2").value()) << nth;
    EXPECT_GE(first, acknowledged) << nth;
    EXPECT_LE(first, tried) << nth;
  }
  EXPECT_GT(nth, 10U);  // The loop has met real operations.
}

TEST_F(DatabaseTest, an_io_error_anywhere_loses_nothing_acknowledged_and_halves_nothing) {
  acknowledged_transfers_survive(path_, Fault::IoError, false);
}
TEST_F(DatabaseTest, a_full_disk_anywhere_loses_nothing_acknowledged_and_halves_nothing) {
  acknowledged_transfers_survive(path_, Fault::DiskFull, false);
}
TEST_F(DatabaseTest, a_crash_anywhere_loses_nothing_acknowledged_and_halves_nothing) {
  acknowledged_transfers_survive(path_, Fault::Crash, false);
}
TEST_F(DatabaseTest, a_power_cut_anywhere_loses_nothing_acknowledged_and_halves_nothing) {
  acknowledged_transfers_survive(path_, Fault::Crash, true);
}

}  // namespace
}  // namespace sqlite
