#include "store/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "sqlite/faulty_vfs.h"
#include "store/sqlite/layout.h"
#include "store/temporary_directory.h"
#include "store/testing_wait.h"

namespace store {
namespace {

class SqliteStoreTest : public ::testing::Test {
 protected:
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open(path_);
    CHECK(store);
    return std::move(*store);
  }
  // Changes the file behind the store's back.
  void tamper(const std::string& sql) {
    const auto database = sqlite::Database::open(path_, {});
    CHECK(database && (*database)->execute(sql));
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("records.db");
};

TEST_F(SqliteStoreTest, the_records_are_read_with_sqlites_own_tools_while_the_server_runs) {
  const auto store = open();
  const uint64_t epoch = store->campaign("10.0.0.1:7117", at_once).value();
  ASSERT_EQ(store->commit(epoch, {.puts = {{"task/default/1", R"({"lastStatus":"RUNNING"})"}}}),
            CommitOutcome::Committed);
  const auto reader = sqlite::Database::open(path_, {.access = sqlite::Access::ReadOnly}).value();
  auto select = reader->prepare("SELECT json_extract(value, '$.lastStatus') FROM records").value();
  ASSERT_TRUE(select.step().value());
  EXPECT_EQ(select.column_text(0), "RUNNING");
  select.reset();
  auto meta = reader->prepare("SELECT value FROM meta ORDER BY name").value();
  ASSERT_TRUE(meta.step().value());
  EXPECT_EQ(meta.column_int64(0), 1);  // epoch
  ASSERT_TRUE(meta.step().value());
  EXPECT_EQ(meta.column_int64(0), sqlite_format);
  ASSERT_TRUE(meta.step().value());
  EXPECT_EQ(meta.column_text(0), "10.0.0.1:7117");
}

TEST_F(SqliteStoreTest, nobody_else_may_read_the_files) {
  const auto store = open();
  ASSERT_TRUE(store->campaign("here", at_once));
  for (const char* suffix : {"", "-wal", "-shm", ".lock"}) {
    struct stat status{};
    ASSERT_EQ(::stat((path_ + suffix).c_str(), &status), 0) << suffix;
    EXPECT_EQ(status.st_mode & 0777, 0600U) << suffix;
  }
}

TEST_F(SqliteStoreTest, a_second_owner_is_refused_and_told_who_holds_the_file) {
  {
    const auto store = open();
    const auto refused = SqliteStore::open(path_);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, "Busy");
    EXPECT_EQ(refused.error().message, path_ + " is in use by process " +
                                           std::to_string(::getpid()) +
                                           ": stop it, or choose another directory for the data.");
  }
  EXPECT_TRUE(SqliteStore::open(path_));
}

TEST_F(SqliteStoreTest, a_newer_format_is_refused) {
  open();
  tamper("UPDATE meta SET value = 99 WHERE name = 'format'");
  const auto refused = SqliteStore::open(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "UnsupportedFormat");
  EXPECT_NE(refused.error().message.find("has format 99"), std::string::npos);
  EXPECT_NE(refused.error().message.find("start the newer version"), std::string::npos);
}

TEST_F(SqliteStoreTest, another_programs_file_is_left_alone) {
  tamper("CREATE TABLE bookmarks(url)");
  const auto refused = SqliteStore::open(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "UnsupportedFormat");
  EXPECT_NE(refused.error().message.find("another program's"), std::string::npos);
}

TEST_F(SqliteStoreTest, a_file_without_its_format_is_damaged) {
  open();
  tamper("DROP TABLE meta");
  EXPECT_EQ(SqliteStore::open(path_).error().code, "Corrupt");
}

TEST_F(SqliteStoreTest, a_file_that_is_not_a_database_is_damaged) {
  std::ofstream(path_) << std::string(10'000, 'x');
  const auto refused = SqliteStore::open(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Corrupt");
  EXPECT_NE(refused.error().message.find(path_), std::string::npos);
}

TEST_F(SqliteStoreTest, damage_among_the_records_is_found_by_the_load) {
  {
    const auto store = open();
    const uint64_t epoch = store->campaign("here", at_once).value();
    Batch batch;
    for (int i = 0; i < 500; ++i) batch.puts.push_back({std::to_string(i), std::string(400, 'v')});
    ASSERT_EQ(store->commit(epoch, batch), CommitOutcome::Committed);
  }
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path_) - 2 * 4096));
  file << std::string(4096, '\x5a');
  file.close();
  const auto refused = open()->load();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Corrupt");
  EXPECT_NE(refused.error().message.find(path_), std::string::npos);
  EXPECT_NE(refused.error().message.find("restore the file from a backup"), std::string::npos);
}

base::Result<void> add_note(sqlite::Database& database) {
  return database.execute("INSERT INTO meta VALUES('note', 'upgraded')");
}
base::Result<void> upgrade_that_fails(sqlite::Database& database) {
  TRY_VOID(add_note(database));
  return base::fail("IoError", "half of it is done");
}

TEST_F(SqliteStoreTest, an_older_file_is_upgraded_as_a_whole_or_not_at_all) {
  open();
  const auto database = sqlite::Database::open(path_, {}).value();
  std::vector<sqlite::UpgradeStep> steps(upgrades().begin(), upgrades().end());
  steps.push_back({sqlite_format, upgrade_that_fails});
  EXPECT_FALSE(prepare_layout(*database, steps));
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM meta WHERE name = 'note'").value(), 0);
  steps.back().run = add_note;
  ASSERT_TRUE(prepare_layout(*database, steps));
  ASSERT_TRUE(prepare_layout(*database, steps));  // A second time nothing is left to do.
  EXPECT_EQ(database->query_int64("SELECT count(*) FROM meta WHERE name = 'note'").value(), 1);
  EXPECT_EQ(database->query_int64("SELECT value FROM meta WHERE name = 'format'").value(),
            sqlite_format + 1);
}

TEST_F(SqliteStoreTest, before_an_upgrade_the_file_is_copied_as_it_was) {
  {
    const auto store = open();
    const uint64_t epoch = store->campaign("here", at_once).value();
    ASSERT_EQ(store->commit(epoch, {.puts = {{"a", "1"}}}), CommitOutcome::Committed);
  }
  const std::string copy = path_ + ".v2-copy";
  std::vector<sqlite::UpgradeStep> steps(upgrades().begin(), upgrades().end());
  {
    const auto database = sqlite::Database::open(path_, {}).value();
    ASSERT_TRUE(prepare_layout(*database, steps));
    EXPECT_FALSE(std::filesystem::exists(copy));  // There was nothing to upgrade.
    steps.push_back({sqlite_format, add_note});
    ASSERT_TRUE(prepare_layout(*database, steps));
  }
  // The present program refuses what the newer one made, and reads the copy.
  EXPECT_EQ(SqliteStore::open(path_).error().code, "UnsupportedFormat");
  EXPECT_EQ(SqliteStore::open(copy).value()->load().value(), (std::vector<Record>{{"a", "1"}}));
}

TEST_F(SqliteStoreTest, without_room_for_the_copy_nothing_is_upgraded) {
  open();
  std::filesystem::create_directory(path_ + ".v2-copy");  // A file cannot take its place.
  const auto database = sqlite::Database::open(path_, {}).value();
  std::vector<sqlite::UpgradeStep> steps(upgrades().begin(), upgrades().end());
  steps.push_back({sqlite_format, add_note});
  EXPECT_FALSE(prepare_layout(*database, steps));
  EXPECT_EQ(database->query_int64("SELECT value FROM meta WHERE name = 'format'").value(),
            sqlite_format);
}

TEST_F(SqliteStoreTest, a_file_cut_to_any_length_is_damaged_and_never_begun_anew) {
  {
    const auto store = open();
    const uint64_t epoch = store->campaign("here", at_once).value();
    Batch batch;
    for (int i = 0; i < 200; ++i) batch.puts.push_back({std::to_string(i), std::string(400, 'v')});
    ASSERT_EQ(store->commit(epoch, batch), CommitOutcome::Committed);
  }
  const uint64_t whole = std::filesystem::file_size(path_);
  std::filesystem::copy_file(path_, path_ + ".whole");
  std::vector<uint64_t> sizes{0, 1, 15, 16, 99, 100, 511, 512, 4095, 4096, 8192, whole / 2};
  for (uint64_t size = 4096; size < whole; size += 8192) sizes.push_back(size);
  sizes.push_back(whole - 4096);
  for (const uint64_t size : sizes) {
    std::filesystem::copy_file(path_ + ".whole", path_,
                               std::filesystem::copy_options::overwrite_existing);
    std::filesystem::resize_file(path_, size);
    const auto store = SqliteStore::open(path_);
    const auto records = store ? (*store)->load() : base::fail(store.error());
    ASSERT_FALSE(records) << size;
    EXPECT_EQ(records.error().code, "Corrupt") << size << " " << records.error().message;
    EXPECT_NE(records.error().message.find(path_), std::string::npos);
  }
}

TEST_F(SqliteStoreTest, a_file_that_is_gone_while_its_log_is_there_is_damaged) {
  {
    const auto store = open();
    const uint64_t epoch = store->campaign("here", at_once).value();
    ASSERT_EQ(store->commit(epoch, {.puts = {{"a", "1"}}}), CommitOutcome::Committed);
    std::filesystem::copy_file(path_ + "-wal", path_ + ".log");
  }
  std::filesystem::remove(path_);
  std::filesystem::rename(path_ + ".log", path_ + "-wal");
  const auto refused = SqliteStore::open(path_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Corrupt");
  EXPECT_GT(std::filesystem::file_size(path_ + "-wal"), 0U);  // It may help to save something.
}

TEST_F(SqliteStoreTest, a_backup_opens_as_a_store) {
  const auto store = open();
  const uint64_t epoch = store->campaign("here", at_once).value();
  store->commit(epoch, {.puts = {{"a", "1"}}});
  ASSERT_TRUE(store->backup_to(directory_.file("copy.db")));
  store->commit(epoch, {.puts = {{"a", "2"}}});
  EXPECT_EQ(SqliteStore::open(directory_.file("copy.db")).value()->load().value(),
            (std::vector<Record>{{"a", "1"}}));
}

TEST_F(SqliteStoreTest, a_backup_put_in_place_of_the_running_file_ends_the_leadership) {
  const auto store = open();
  const uint64_t epoch = store->campaign("here", at_once).value();
  tamper("UPDATE meta SET value = value + 1 WHERE name = 'epoch'");
  EXPECT_EQ(store->commit(epoch, {.puts = {{"a", "1"}}}), CommitOutcome::LostLeadership);
  EXPECT_TRUE(store->load().value().empty());
}

// ---- damage

// The files of a store that was killed after its last commit, and what was acknowledged.
class DamagedStoreTest : public SqliteStoreTest {
 protected:
  void SetUp() override {
    const auto store = open();
    const uint64_t epoch = store->campaign("here", at_once).value();
    Batch batch;
    for (int i = 0; i < 60; ++i) {
      batch.puts.push_back({"old/" + std::to_string(i), std::string(300, 'o')});
    }
    CHECK(store->commit(epoch, batch) == CommitOutcome::Committed);
    // A store that is opened anew begins with an empty log: this one's has the next commits only.
    const auto again = reopened(*store);
    const uint64_t next = again->campaign("here", at_once).value();
    for (int i = 0; i < 8; ++i) {
      const std::string text = std::string(200, 'n') + std::to_string(i);
      CHECK(again->commit(next, {.puts = {{"new/" + std::to_string(i), text},
                                          {"old/" + std::to_string(i), text}}}) ==
            CommitOutcome::Committed);
    }
    acknowledged_ = again->load().value();
    for (const char* const suffix : suffixes) copy(path_ + suffix, kept_ + suffix);
    whole_main_ = read(kept_);
    whole_wal_ = read(kept_ + "-wal");
    ASSERT_GT(whole_wal_.size(), 8U * 2 * 4096);
  }

  std::unique_ptr<SqliteStore> reopened(SqliteStore& store) {
    const std::string copied = directory_.file("copied.db");
    CHECK(store.backup_to(copied));
    path_ = copied;
    return open();
  }
  static void copy(const std::string& from, const std::string& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
  }
  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  base::Result<std::vector<Record>> load_with(const std::string& main, const std::string& wal) {
    for (const char* const suffix : suffixes) copy(kept_ + suffix, tried_ + suffix);
    write(tried_, main);
    write(tried_ + "-wal", wal);
    auto store = SqliteStore::open(tried_);
    if (!store) return base::fail(store.error());
    return (*store)->load();
  }
  // Everything that was acknowledged, or a refusal that names the file.
  void expect_no_lie(const base::Result<std::vector<Record>>& found, const std::string& what) {
    if (found) {
      EXPECT_TRUE(*found == acknowledged_) << what;
    } else {
      EXPECT_EQ(found.error().code, "Corrupt") << what << ": " << found.error().message;
      EXPECT_NE(found.error().message.find(tried_), std::string::npos) << found.error().message;
    }
  }

  static constexpr const char* suffixes[] = {"", "-wal", ".commits"};
  std::vector<Record> acknowledged_;
  std::string kept_ = directory_.file("kept.db");
  std::string tried_ = directory_.file("tried.db");
  std::string whole_main_;
  std::string whole_wal_;
};

TEST_F(DamagedStoreTest, nothing_is_missing_without_damage) {
  EXPECT_EQ(load_with(whole_main_, whole_wal_).value(), acknowledged_);
}

TEST_F(DamagedStoreTest, a_bit_that_is_not_what_was_written_is_never_served) {
  size_t refused = 0;
  for (size_t i = 0; i < 400; ++i) {
    std::string main = whole_main_;
    const size_t at = i * 2'654'435'761 % main.size();
    main[at] = static_cast<char>(main[at] ^ (1 << i % 8));
    const auto found = load_with(main, whole_wal_);
    expect_no_lie(found, "byte " + std::to_string(at));
    refused += found ? 0 : 1;
  }
  EXPECT_GT(refused, 100U);  // Pages that are in the log, too, are not read here.
}

TEST_F(DamagedStoreTest, a_bit_of_the_header_that_says_there_are_checksums_is_found) {
  for (const size_t at : std::initializer_list<size_t>{16, 17, 18, 19, 20, 21, 28, 59}) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string main = whole_main_;
      main[at] = static_cast<char>(main[at] ^ (1 << bit));
      expect_no_lie(load_with(main, whole_wal_), "header byte " + std::to_string(at));
    }
  }
}

TEST_F(DamagedStoreTest, a_bit_of_the_log_takes_no_commit_with_it) {
  size_t refused = 0;
  for (size_t i = 0; i < 400; ++i) {
    std::string wal = whole_wal_;
    const size_t at = i < 32 ? i : i * 2'654'435'761 % wal.size();
    wal[at] = static_cast<char>(wal[at] ^ (1 << i % 8));
    const auto found = load_with(whole_main_, wal);
    expect_no_lie(found, "byte " + std::to_string(at) + " of the log");
    refused += found ? 0 : 1;
  }
  EXPECT_GT(refused, 390U);  // A few bytes of the header mean nothing.
}

TEST_F(DamagedStoreTest, a_log_that_was_cut_off_or_is_gone_is_noticed) {
  EXPECT_FALSE(load_with(whole_main_, ""));
  for (size_t size = 0; size < whole_wal_.size(); size += 1000) {
    const auto found = load_with(whole_main_, whole_wal_.substr(0, size));
    ASSERT_FALSE(found) << size;
    EXPECT_EQ(found.error().code, "Corrupt");
    EXPECT_NE(found.error().message.find("acknowledged"), std::string::npos);
  }
}

TEST_F(DamagedStoreTest, an_older_copy_is_used_when_the_count_beside_it_was_removed) {
  copy(kept_, tried_);
  std::filesystem::remove(tried_ + ".commits");
  EXPECT_EQ(SqliteStore::open(tried_).value()->load().value().size(), 60U);
}

TEST_F(DamagedStoreTest, a_count_that_was_not_written_whole_asks_for_nothing) {
  const std::string whole = read(kept_ + ".commits");
  for (const std::string& bytes :
       {std::string(), std::string(whole.size(), '\0'), whole.substr(0, 20), whole + whole,
        "0123456789abcdef" + whole.substr(16)}) {
    copy(kept_, tried_);
    write(tried_ + ".commits", bytes);
    EXPECT_TRUE(SqliteStore::open(tried_)) << bytes;
    EXPECT_EQ(read(tried_ + ".commits").size(), whole.size());
  }
}

// Every record holds the number of the last batch that was written whole.
constexpr int slots = 20;

Batch numbered_batch(int64_t number) {
  Batch batch;
  for (int slot = 0; slot < slots; ++slot) {
    batch.puts.push_back({"slot/" + std::to_string(slot), std::to_string(number)});
  }
  batch.puts.push_back({"history/" + std::to_string(number), std::string(300, 'h')});
  if (number > 3) batch.deletes.push_back("history/" + std::to_string(number - 3));
  return batch;
}

// The number found, 0 for an empty store; -1 when a batch was halved.
int64_t whole_batch_found(const std::vector<Record>& records) {
  if (records.empty()) return 0;
  int64_t found = -1;
  int seen = 0;
  for (const Record& record : records) {
    if (!record.key.starts_with("slot/")) continue;
    const int64_t number = std::stoll(record.value);
    if (seen++ > 0 && number != found) return -1;
    found = number;
  }
  const auto history = std::count_if(records.begin(), records.end(), [](const Record& record) {
    return record.key.starts_with("history/");
  });
  return seen == slots && history == std::min<int64_t>(found, 3) ? found : -1;
}

TEST_F(SqliteStoreTest, kill_9_loses_nothing_acknowledged_and_halves_no_batch) {
  int64_t acknowledged = 0;
  for (int round = 0; round < 12; ++round) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      const auto store = SqliteStore::open(path_);
      if (!store) ::_exit(1);
      const uint64_t epoch = (*store)->campaign("child", at_once).value_or(0);
      for (int64_t number = acknowledged + 2;; ++number) {
        if ((*store)->commit(epoch, numbered_batch(number)) != CommitOutcome::Committed) ::_exit(2);
        if (::write(ends[1], &number, sizeof number) != sizeof number) ::_exit(3);
      }
    }
    ::close(ends[1]);
    int64_t number = 0;
    for (int i = 0; i < 5 + 7 * round; ++i) {
      ASSERT_EQ(::read(ends[0], &number, sizeof number), static_cast<ssize_t>(sizeof number));
    }
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    // What the child acknowledged before the signal met it is still in the pipe.
    while (::read(ends[0], &number, sizeof number) == static_cast<ssize_t>(sizeof number)) {
    }
    ::close(ends[0]);

    const auto store = open();
    const int64_t found = whole_batch_found(store->load().value());
    EXPECT_GE(found, number);
    EXPECT_LE(found, number + 1);
    acknowledged = found;
    const uint64_t epoch = store->campaign("parent", at_once).value();
    ASSERT_EQ(store->commit(epoch, numbered_batch(found + 1)), CommitOutcome::Committed);
  }
}

// The nth disk operation fails, for every n; the client does what the contract says.
void survives(const std::string& path, sqlite::Fault fault, bool power_cut) {
  sqlite::FaultyVfs vfs("faulty-store");
  uint64_t nth = 1;
  bool met = true;
  for (; met; ++nth) {
    for (const char* suffix : {"", "-wal", "-shm", ".lock", ".commits"}) {
      std::filesystem::remove(path + suffix);
    }
    int64_t acknowledged = 0;
    int64_t tried = 0;
    {
      vfs.fail_at(nth, fault);
      auto store = SqliteStore::open(path, vfs.name());
      auto epoch = store ? (*store)->campaign("here", at_once) : base::fail(store.error());
      while (epoch && tried < 6) {
        if ((*store)->commit(*epoch, numbered_batch(++tried)) == CommitOutcome::Committed) {
          acknowledged = tried;
          continue;
        }
        EXPECT_FALSE((*store)->last_error().message.empty());
        if (fault == sqlite::Fault::Crash) break;
        vfs.heal();  // Somebody makes room; the same process goes on.
        epoch = (*store)->campaign("here", at_once);
        ASSERT_TRUE(epoch) << nth << epoch.error().message;
        const int64_t found = whole_batch_found((*store)->load().value());
        ASSERT_GE(found, acknowledged) << nth;
        tried = acknowledged = found;
      }
      met = vfs.failed();
      if (!met) EXPECT_EQ(acknowledged, 6);
    }
    if (power_cut) vfs.cut_power();
    vfs.heal();
    auto store = SqliteStore::open(path, vfs.name());
    ASSERT_TRUE(store) << nth << " " << store.error().message;
    const int64_t found = whole_batch_found((*store)->load().value());
    EXPECT_GE(found, acknowledged) << nth;
    EXPECT_LE(found, tried) << nth;
  }
  EXPECT_GT(nth, 20U);
}

TEST_F(SqliteStoreTest, an_io_error_anywhere_is_survived) {
  survives(path_, sqlite::Fault::IoError, false);
}
TEST_F(SqliteStoreTest, a_full_disk_anywhere_is_survived) {
  survives(path_, sqlite::Fault::DiskFull, false);
}
TEST_F(SqliteStoreTest, a_crash_anywhere_is_survived) {
  survives(path_, sqlite::Fault::Crash, false);
}
TEST_F(SqliteStoreTest, a_power_cut_anywhere_is_survived) {
  survives(path_, sqlite::Fault::Crash, true);
}

}  // namespace
}  // namespace store
