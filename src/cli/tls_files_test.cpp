#include "cli/tls_files.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "crypto/certificate.h"

namespace cli {
namespace {

using std::chrono::hours;

const base::Time first_made{std::chrono::seconds(1'750'000'000)};

class TlsFiles : public ::testing::Test {
 protected:
  TlsFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "berth-tls-XXXXXX").string();
    CHECK(::mkdtemp(name.data()) != nullptr);
    dir_ = name;
  }
  ~TlsFiles() override { std::filesystem::remove_all(dir_); }

  ServerTls serve(const TlsCommand& command, base::Time at) const {
    auto tls = server_tls(command, dir_, names_, at);
    CHECK(tls && *tls);
    return std::move(**tls);
  }
  TlsRenewal renewal_of(const TlsCommand& command, const ServerTls& served) const {
    return {command, dir_, names_, served.options};
  }

  std::filesystem::path dir_;
  const std::vector<std::string> names_{"localhost"};
};

TEST_F(TlsFiles, a_certificate_is_made_anew_a_month_before_its_end_by_the_same_authority) {
  const TlsCommand command{
      .own_authority = true, .names = {}, .certificate_file = {}, .key_file = {}};
  const ServerTls first = serve(command, first_made);
  TlsRenewal renewal = renewal_of(command, first);
  EXPECT_FALSE(*renewal.look(first_made + hours(24 * 300)));
  const base::Time later = first_made + hours(24 * 380);
  const auto next = *renewal.look(later);
  ASSERT_TRUE(next);
  EXPECT_GT(crypto::read_certificate(next->certificate_chain_pem)->until, later + hours(24 * 390));
  EXPECT_NE(next->certificate_chain_pem, first.options.certificate_chain_pem);
  EXPECT_EQ(serve(command, later).authority_pem, first.authority_pem);
  EXPECT_FALSE(*renewal.look(later + hours(1)));
}

TEST_F(TlsFiles, files_that_the_operator_has_replaced_are_found_and_an_error_is_told_once) {
  const crypto::Certificate authority =
      crypto::make_authority("A", first_made, first_made + hours(1'000));
  const auto write = [&] {
    const auto made =
        *crypto::make_server_certificate(authority, names_, first_made, first_made + hours(1'000));
    std::ofstream(dir_ / "c.pem") << made.certificate_pem;
    std::ofstream(dir_ / "k.pem") << made.private_key_pem;
    return made.certificate_pem;
  };
  write();
  const TlsCommand command{.names = {},
                           .certificate_file = (dir_ / "c.pem").string(),
                           .key_file = (dir_ / "k.pem").string()};
  TlsRenewal renewal = renewal_of(command, serve(command, first_made));
  EXPECT_FALSE(*renewal.look(first_made));
  std::filesystem::rename(dir_ / "c.pem", dir_ / "away.pem");
  EXPECT_EQ(renewal.look(first_made).error().code, "IoError");
  EXPECT_FALSE(*renewal.look(first_made));
  const std::string next = write();
  EXPECT_EQ((*renewal.look(first_made))->certificate_chain_pem, next);
  EXPECT_FALSE(*renewal.look(first_made));
}

}  // namespace
}  // namespace cli
