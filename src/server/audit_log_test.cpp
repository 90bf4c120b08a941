#include "server/audit_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "server/audit_pace.h"

namespace server {
namespace {

class AuditLogFile : public ::testing::Test {
 protected:
  AuditLogFile() {
    std::string made = (std::filesystem::temp_directory_path() / "berth-audit-XXXXXX").string();
    CHECK(::mkdtemp(made.data()) != nullptr);
    folder_ = made;
  }
  ~AuditLogFile() override { std::filesystem::remove_all(folder_); }

  std::string path() const { return (folder_ / "audit.log").string(); }
  AuditLog open(uint64_t file_bytes = 1'000, int files = 3) const {
    auto log = AuditLog::open({.path = path(), .file_bytes = file_bytes, .files = files});
    CHECK(log.has_value());
    return std::move(*log);
  }
  static std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::filesystem::path folder_;
};

TEST_F(AuditLogFile, is_its_owners_alone_and_goes_on_after_a_restart) {
  ASSERT_TRUE(open().append("one\n", 1, {}).has_value());
  ::chmod(path().c_str(), 0644);
  ASSERT_TRUE(open().append("two\n", 1, {}).has_value());
  EXPECT_EQ("one\ntwo\n", text_of(path()));
  struct stat about{};
  ASSERT_EQ(0, ::stat(path().c_str(), &about));
  EXPECT_EQ(0600U, about.st_mode & 0777U);
}

TEST_F(AuditLogFile, half_a_line_is_ended_before_the_next) {
  std::ofstream(path()) << "half";
  ASSERT_TRUE(open().append("whole\n", 1, {}).has_value());
  EXPECT_EQ("half\nwhole\n", text_of(path()));
}

TEST_F(AuditLogFile, a_full_file_makes_place_and_the_oldest_goes) {
  AuditLog log = open(10, 3);
  for (const char* const line : {"aaaaaaa\n", "bbbbbbb\n", "ccccccc\n", "ddddddd\n"}) {
    ASSERT_TRUE(log.append(line, 1, {}).has_value());
  }
  EXPECT_EQ("ddddddd\n", text_of(path()));
  EXPECT_EQ("ccccccc\n", text_of(path() + ".1"));
  EXPECT_EQ("bbbbbbb\n", text_of(path() + ".2"));
  EXPECT_FALSE(std::filesystem::exists(path() + ".3"));
}

// Every descriptor is taken, say.
TEST_F(AuditLogFile, a_new_file_that_cannot_be_made_costs_no_older_one) {
  AuditLog log = open(10, 3);
  for (const char* const line : {"aaaaaaa\n", "bbbbbbb\n", "ccccccc\n"}) {
    ASSERT_TRUE(log.append(line, 1, {}).has_value());
  }
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_NOFILE, &before));
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_NOFILE, &none));
  uint64_t refused = 0;
  for (int i = 0; i < 5; ++i) refused += log.append("ddddddd\n", 1, {}).has_value() ? 0 : 1;
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(5U, refused);
  EXPECT_EQ(5U, log.not_written());
  EXPECT_EQ("ccccccc\n", text_of(path()));
  EXPECT_EQ("bbbbbbb\n", text_of(path() + ".1"));
  EXPECT_EQ("aaaaaaa\n", text_of(path() + ".2"));
  ASSERT_TRUE(log.append("eeeeeee\n", 1, {}).has_value());
  EXPECT_EQ(not_written_line({}, 5) + "eeeeeee\n", text_of(path()));
  EXPECT_EQ("ccccccc\n", text_of(path() + ".1"));
}

// As a full disk: the kernel takes a part and then nothing.
TEST_F(AuditLogFile, what_the_disk_does_not_take_is_counted_and_told_once_it_does) {
  AuditLog log = open(10'000);
  ASSERT_TRUE(log.append("one\n", 1, {}).has_value());
  rlimit before{};
  ASSERT_EQ(0, ::getrlimit(RLIMIT_FSIZE, &before));
  const auto ignored = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit full{.rlim_cur = 8, .rlim_max = before.rlim_max};
  ASSERT_EQ(0, ::setrlimit(RLIMIT_FSIZE, &full));
  const auto failed = log.append("two\nthree\n", 2, {});
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, ignored);
  ASSERT_FALSE(failed.has_value());
  EXPECT_TRUE(failed.error().message.contains(path()));
  EXPECT_EQ(2U, log.not_written());
  EXPECT_EQ("one\n", text_of(path()));
  ASSERT_TRUE(log.append("four\n", 1, {}).has_value());
  EXPECT_EQ("one\n" + not_written_line({}, 2) + "four\n", text_of(path()));
  EXPECT_EQ(0U, log.not_written());
}

AuditedCall call_of(auth::Access access, std::string key) {
  AuditedCall call;
  call.caller = auth::Caller{.access_key_id = std::move(key),
                             .arn = {},
                             .account = {},
                             .user_id = {},
                             .service = {},
                             .access = std::move(access)};
  return call;
}

TEST(AuditPace, a_full_key_always_has_its_line) {
  AuditPace pace;
  for (int number = 0; number < 10'000; ++number) {
    ASSERT_TRUE(pace.pass(call_of(auth::FullAccess{}, "ROOT"), false, base::Milliseconds{0}));
  }
  EXPECT_FALSE(pace.take_left_out().any());
}

TEST(AuditPace, a_flood_is_left_out_and_counted_and_hides_nobody_else) {
  AuditPace pace;
  int passed = 0;
  for (int number = 0; number < 10'000; ++number) {
    passed += pace.pass(AuditedCall{}, true, base::Milliseconds{0}) ? 1 : 0;
  }
  EXPECT_EQ(60, passed);
  const AuditedCall other = call_of(auth::AgentAccess{}, "AGENT");
  EXPECT_TRUE(pace.pass(other, true, base::Milliseconds{0}));
  EXPECT_TRUE(pace.pass(other, false, base::Milliseconds{0}));
  EXPECT_EQ(9'940U, pace.take_left_out().unknown);
  EXPECT_FALSE(pace.take_left_out().any());
  EXPECT_TRUE(pace.pass(AuditedCall{}, true, base::Milliseconds{10'000}));
}

}  // namespace
}  // namespace server
