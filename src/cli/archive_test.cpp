#include "cli/archive.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

#include "cli/data_check.h"
#include "cli/installation.h"
#include "store/sqlite/sqlite_store.h"

namespace cli {
namespace {

namespace fs = std::filesystem;

class ArchiveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "berth-archive-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
    data_ = dir_ / "data";
    ASSERT_TRUE(make_data_dir(data_));
  }
  void TearDown() override { fs::remove_all(dir_); }

  // A store with one record, and the files that stand beside it.
  void make_data(const std::string& value) {
    const auto store = store::SqliteStore::open((data_ / "state.db").string()).value();
    const uint64_t epoch = store->campaign("here", base::Milliseconds{0}).value();
    ASSERT_EQ(store->commit(epoch, {.puts = {{"cluster/a", value}}}),
              store::CommitOutcome::Committed);
    ASSERT_TRUE(write_credentials(data_, ensure_credentials(data_, {}, {}).value()));
    std::ofstream(data_ / "secrets.key") << "a key\n";
    std::ofstream(data_ / "notes.txt") << "not ours\n";
  }
  std::string stored() const {
    const auto store = store::SqliteStore::open((data_ / "state.db").string()).value();
    return store->load().value().at(0).value;
  }
  base::Result<Archive> archive() { return make_archive(file(), data_, now_, ignore_); }
  base::Result<Restored> restore() { return restore_archive(file(), data_, now_, ignore_); }

  fs::path file() const { return dir_ / "backup"; }
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  fs::path dir_;
  fs::path data_;
  base::Time now_{std::chrono::milliseconds(1'769'860'800'000)};
  ArchiveProgress ignore_ = [](const std::string&, uint64_t percent) { EXPECT_LE(percent, 100U); };
};

TEST_F(ArchiveTest, holds_databases_keys_and_credentials_and_nothing_else) {
  make_data("one");
  const auto made = archive();
  ASSERT_TRUE(made) << made.error().message;
  std::vector<std::string> names;
  for (const ArchivedFile& one : made->files) names.push_back(one.name);
  EXPECT_EQ(names, (std::vector<std::string>{"state.db", "credentials.json", "secrets.key"}));
}

TEST_F(ArchiveTest, a_restore_brings_everything_back_and_keeps_what_was_there) {
  make_data("one");
  const std::string credentials = content(credentials_path(data_));
  ASSERT_TRUE(archive());
  make_data("two");
  fs::remove(data_ / "secrets.key");
  const auto restored = restore();
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_EQ(stored(), "one");
  EXPECT_EQ(content(credentials_path(data_)), credentials);
  EXPECT_EQ(content(data_ / "secrets.key"), "a key\n");
  EXPECT_EQ(content(data_ / "notes.txt"), "not ours\n");
  EXPECT_EQ(restored->replaced, data_ / "replaced-20260131T120000Z");
  EXPECT_TRUE(fs::exists(restored->replaced / "state.db"));
  EXPECT_TRUE(check_complete(data_));
  // A second time in the same second.
  EXPECT_EQ(restore()->replaced, data_ / "replaced-20260131T120000Z-2");
}

TEST_F(ArchiveTest, a_restore_that_was_cut_off_anywhere_is_noticed_and_can_be_repeated) {
  make_data("one");
  ASSERT_TRUE(archive());
  for (const char* const moved : {"state.db", "credentials.json", "secrets.key"}) {
    // As it is between the two moves of that file.
    std::ofstream(data_ / "restore-unfinished").close();
    fs::create_directory(data_ / "restore-unpacking");
    fs::rename(data_ / moved, data_ / "restore-unpacking" / moved);
    const auto complete = check_complete(data_);
    ASSERT_FALSE(complete);
    EXPECT_EQ(complete.error().code, "Corrupt");
    ASSERT_TRUE(restore());
    EXPECT_TRUE(check_complete(data_));
    EXPECT_EQ(stored(), "one");
    EXPECT_FALSE(fs::exists(data_ / "restore-unpacking"));
  }
}

TEST_F(ArchiveTest, a_directory_that_lost_its_state_is_not_begun_anew) {
  EXPECT_TRUE(check_complete(data_));  // A new one.
  make_data("one");
  EXPECT_TRUE(check_complete(data_));
  fs::remove(data_ / "state.db");
  const auto complete = check_complete(data_);
  ASSERT_FALSE(complete);
  EXPECT_NE(complete.error().message.find("state.db is gone"), std::string::npos);
}

TEST_F(ArchiveTest, secrets_without_their_key_are_not_given_another_one) {
  make_data("one");
  fs::remove(data_ / "secrets.key");
  EXPECT_TRUE(check_complete(data_));  // Nothing was sealed yet.
  std::ofstream(data_ / "secrets.db") << "sealed";
  const auto complete = check_complete(data_);
  ASSERT_FALSE(complete);
  EXPECT_EQ(complete.error().code, "Corrupt");
  EXPECT_NE(complete.error().message.find("secrets.key is gone"), std::string::npos);
}

TEST_F(ArchiveTest, a_bit_that_changed_in_the_backup_is_found) {
  make_data("the value that is looked for");
  ASSERT_TRUE(archive());
  const std::string whole = content(file());
  const size_t at = whole.find("the value that is looked for");
  ASSERT_NE(at, std::string::npos);
  std::fstream(file(), std::ios::in | std::ios::out | std::ios::binary)
          .seekp(static_cast<std::streamoff>(at))
      << 'T';
  const auto refused = restore();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "Corrupt");
  EXPECT_EQ(stored(), "the value that is looked for");
  EXPECT_FALSE(fs::exists(data_ / "restore-unpacking"));
}

}  // namespace
}  // namespace cli
