#include "cli/checks.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "base/format.h"
#include "cli/installation.h"
#include "cli/local_server.h"
#include "sqlite/database.h"

namespace cli {
namespace {

class Checks : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "berth-cli-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    dir_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }

  std::filesystem::path dir_;
};

TEST_F(Checks, a_directory_that_only_its_owner_reads_is_well) {
  const auto checks = check_data_dir(dir_);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].state, CheckState::Ok) << checks[0].detail;
}

TEST_F(Checks, a_directory_that_others_can_look_into_is_a_warning_with_the_command_that_mends_it) {
  std::filesystem::permissions(dir_, std::filesystem::perms(0755));
  const auto checks = check_data_dir(dir_);
  EXPECT_EQ(checks[0].state, CheckState::Warn);
  EXPECT_EQ(checks[0].todo, "chmod 700 " + dir_.string());
}

TEST_F(Checks, a_directory_that_is_not_there_yet_is_well_and_is_not_made) {
  const auto checks = check_data_dir(dir_ / "a/b");
  EXPECT_EQ(checks[0].state, CheckState::Ok) << checks[0].detail;
  EXPECT_FALSE(std::filesystem::exists(dir_ / "a"));
}

TEST_F(Checks, a_file_in_the_place_of_the_directory_is_a_failure) {
  const auto checks = check_data_dir("/dev/null");
  EXPECT_EQ(checks[0].state, CheckState::Fail);
}

TEST_F(Checks, a_damaged_file_is_named_and_the_others_are_well) {
  for (const char* const name : {"state.db", "logs.db"}) {
    const auto database = sqlite::Database::open((dir_ / name).string(), {});
    ASSERT_TRUE((*database)->execute("CREATE TABLE t(a); INSERT INTO t VALUES(zeroblob(20000))"));
    ASSERT_TRUE((*database)->checkpoint());
  }
  std::fstream file(dir_ / "logs.db", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(4096);
  file << std::string(64, '\xFF');
  file.close();
  const auto checks = check_data_dir(dir_);
  ASSERT_EQ(checks.size(), 4U);
  EXPECT_EQ(checks[2].state, CheckState::Ok) << checks[2].detail;
  EXPECT_EQ(checks[3].name, "logs.db");
  EXPECT_EQ(checks[3].state, CheckState::Fail) << checks[3].detail;
  EXPECT_NE(checks[3].detail.find((dir_ / "logs.db").string()), std::string::npos);
  EXPECT_NE(checks[3].todo.find("move the file"), std::string::npos);
}

TEST_F(Checks, a_file_that_was_cut_off_is_damaged) {
  for (const char* const content : {"", "x"}) {
    std::ofstream(dir_ / "logs.db") << content;
    const auto checks = check_data_dir(dir_);
    ASSERT_EQ(checks.size(), 3U);
    EXPECT_EQ(checks[2].state, CheckState::Fail) << checks[2].detail;
  }
}

TEST_F(Checks, a_taken_port_is_a_failure_and_a_free_one_is_not) {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(file, generic, length), 0);
  ASSERT_EQ(::listen(file, 1), 0);
  ASSERT_EQ(::getsockname(file, generic, &length), 0);
  const std::string listen = base::format("127.0.0.1:{}", ntohs(address.sin_port));
  const Check taken = check_port(listen, dir_);
  EXPECT_EQ(taken.state, CheckState::Fail);
  EXPECT_NE(taken.todo.find("--listen"), std::string::npos);
  ::close(file);
  EXPECT_EQ(check_port("127.0.0.1:0", dir_).state, CheckState::Ok);
}

TEST_F(Checks, an_address_without_a_port_is_a_failure_that_shows_how_it_is_written) {
  const Check check = check_port("localhost", dir_);
  EXPECT_EQ(check.state, CheckState::Fail);
  EXPECT_NE(check.detail.find("127.0.0.1:7117"), std::string::npos);
}

TEST_F(Checks, a_docker_that_does_not_answer_is_a_failure_with_what_to_do) {
  const std::string host = "unix://" + (dir_ / "none.sock").string();
  const auto client = docker::DockerClient::create(host);
  ASSERT_TRUE(client.has_value());
  const Check check = check_docker(host, (*client)->info());
  EXPECT_EQ(check.state, CheckState::Fail);
  EXPECT_NE(check.detail.find("none.sock"), std::string::npos) << check.detail;
  EXPECT_NE(check.todo.find("DOCKER_HOST"), std::string::npos);
}

TEST_F(Checks, stored_credentials_come_back_and_only_the_owner_reads_them) {
  const auto made = ensure_credentials(dir_, {}, {});
  ASSERT_TRUE(made.has_value());
  ASSERT_TRUE(write_credentials(dir_, *made).has_value());
  const auto again = ensure_credentials(dir_, {}, {});
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(again->access_key_id, made->access_key_id);
  EXPECT_EQ(again->secret_access_key, made->secret_access_key);
  EXPECT_EQ(std::filesystem::status(credentials_path(dir_)).permissions(),
            std::filesystem::perms(0600));
}

TEST_F(Checks, region_and_account_of_a_directory_stay) {
  auto made = ensure_credentials(dir_, "eu-west-1", std::nullopt);
  ASSERT_TRUE(made.has_value());
  EXPECT_EQ("eu-west-1", made->region);
  EXPECT_EQ("123456789012", made->account);
  made->account = "210987654321";
  ASSERT_TRUE(write_credentials(dir_, *made).has_value());
  const auto as_kept = ensure_credentials(dir_, std::nullopt, std::nullopt);
  ASSERT_TRUE(as_kept.has_value());
  EXPECT_EQ("eu-west-1", as_kept->region);
  EXPECT_EQ("210987654321", as_kept->account);
  EXPECT_TRUE(ensure_credentials(dir_, "eu-west-1", "210987654321").has_value());
  for (const auto& refused : {ensure_credentials(dir_, "us-east-1", std::nullopt),
                              ensure_credentials(dir_, std::nullopt, "123456789012")}) {
    ASSERT_FALSE(refused.has_value());
    EXPECT_NE(std::string::npos, refused.error().message.find(dir_.string()));
  }
}

TEST_F(Checks, a_listen_address_is_host_and_port) {
  const auto address = parse_listen("0.0.0.0:80");
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->host, "0.0.0.0");
  EXPECT_EQ(address->port, 80);
  for (const char* const wrong :
       {"", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "a:1x"}) {
    EXPECT_FALSE(parse_listen(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace cli
