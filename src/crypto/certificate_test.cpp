#include "crypto/certificate.h"

#include <gtest/gtest.h>

namespace crypto {
namespace {

const base::Time noon{std::chrono::seconds(1'750'000'000)};

TEST(Certificate, a_servers_says_which_names_and_addresses_it_is_for_and_until_when) {
  const Certificate authority = make_authority("Berth", noon, noon + std::chrono::hours(24 * 3650));
  const auto made = make_server_certificate(authority, {"localhost", "127.0.0.1", "::1"}, noon,
                                            noon + std::chrono::hours(24 * 397));
  ASSERT_TRUE(made);
  const auto facts = read_certificate(made->certificate_pem);
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->names, (std::vector<std::string>{"localhost", "127.0.0.1", "::1"}));
  EXPECT_EQ(facts->until, noon + std::chrono::hours(24 * 397));
  EXPECT_TRUE(made->private_key_pem.starts_with("-----BEGIN PRIVATE KEY-----"));
}

TEST(Certificate, no_two_have_the_same_key) {
  const base::Time until = noon + std::chrono::hours(1);
  EXPECT_NE(make_authority("Berth", noon, until).private_key_pem,
            make_authority("Berth", noon, until).private_key_pem);
}

TEST(Certificate, text_that_is_none_is_an_error) {
  EXPECT_EQ(read_certificate("hello").error().code, "InvalidCertificate");
  EXPECT_EQ(make_server_certificate({"hello", "hello"}, {"a"}, noon, noon).error().code,
            "InvalidCertificate");
}

}  // namespace
}  // namespace crypto
