#include "crypto/crypto.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace crypto {
namespace {

// FIPS 180-4 examples (NIST CSRC, "SHA-256" example values).
TEST(Sha256, agrees_with_the_published_examples) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

RC_GTEST_PROP(Sha256, pieces_hash_as_the_whole_and_the_object_is_reusable,
              (const std::string& first, const std::string& second)) {
  Sha256 hash;
  hash.update(first);
  hash.update(second);
  RC_ASSERT(hash.finish() == sha256(first + second));
  RC_ASSERT(hash.of(second) == sha256(second));
  Sha256 moved = std::move(hash);
  RC_ASSERT(moved.of(first) == sha256(first));
}

// RFC 4231, test cases 1, 2, 3 and 6.
TEST(Hmac, agrees_with_rfc_4231) {
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\x0b'), "Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(20, '\xaa'), std::string(50, '\xdd'))),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  EXPECT_EQ(to_hex(hmac_sha256(std::string(131, '\xaa'),
                               "Test Using Larger Than Block-Size Key - Hash Key First")),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Hmac, an_empty_key_and_an_empty_message_are_accepted) {
  EXPECT_EQ(to_hex(hmac_sha256("", "")),
            "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

RC_GTEST_PROP(Hmac, one_object_signs_many_messages_as_fresh_ones_do,
              (const std::string& key, const std::vector<std::string>& messages)) {
  Hmac kept(key);
  for (const std::string& message : messages) {
    RC_ASSERT(kept.sign(message) == hmac_sha256(key, message));
  }
}

RC_GTEST_PROP(Hex, reads_back, (const std::string& bytes)) {
  RC_ASSERT(from_hex(to_hex(bytes)) == bytes);
}

TEST(Hex, takes_upper_case_and_refuses_what_is_not_hexadecimal) {
  EXPECT_EQ(from_hex("00fFA0"), std::string("\0\xff\xa0", 3));
  EXPECT_EQ(from_hex("abc"), std::nullopt);
  EXPECT_EQ(from_hex("0g"), std::nullopt);
  EXPECT_EQ(from_hex("-1"), std::nullopt);
}

TEST(ConstantTimeEqual, compares_bytes_and_lengths) {
  EXPECT_TRUE(constant_time_equal("", ""));
  EXPECT_TRUE(constant_time_equal("secret", "secret"));
  EXPECT_FALSE(constant_time_equal("secret", "secreT"));
  EXPECT_FALSE(constant_time_equal("secret", "secre"));
  EXPECT_FALSE(constant_time_equal("", "s"));
}

TEST(RandomBytes, has_the_length_asked_for_and_does_not_repeat) {
  EXPECT_EQ(random_bytes(0), "");
  std::set<std::string> seen;
  for (int i = 0; i < 100; ++i) {
    const std::string bytes = random_bytes(16);
    EXPECT_EQ(bytes.size(), 16U);
    EXPECT_TRUE(seen.insert(bytes).second);
  }
}

RC_GTEST_PROP(Seal, opens_with_the_same_key_and_associated_data_only,
              (const std::string& plaintext, const std::string& associated_data)) {
  const std::string key = random_bytes(32);
  const std::string sealed = seal(key, plaintext, associated_data).value();
  RC_ASSERT(sealed.size() == plaintext.size() + 28);
  RC_ASSERT(open(key, sealed, associated_data).value() == plaintext);
  RC_ASSERT(!open(random_bytes(32), sealed, associated_data));
  RC_ASSERT(!open(key, sealed, associated_data + "x"));
  RC_ASSERT(seal(key, plaintext, associated_data).value() != sealed);
}

TEST(Seal, every_changed_bit_and_every_cut_is_found) {
  const std::string key(32, 'k');
  const std::string sealed = seal(key, "a bearer secret", "task/1").value();
  for (size_t bit = 0; bit < sealed.size() * 8; ++bit) {
    std::string changed = sealed;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << (bit % 8)));
    const auto opened = open(key, changed, "task/1");
    ASSERT_FALSE(opened) << bit;
    EXPECT_EQ(opened.error().code, "InvalidCiphertext");
  }
  for (size_t size = 0; size < sealed.size(); ++size) {
    EXPECT_FALSE(open(key, sealed.substr(0, size), "task/1")) << size;
  }
}

// NIST GCM test vectors (gcmEncryptExtIV256, McGrew and Viega test case 14): key and nonce zero.
TEST(Open, agrees_with_the_published_vector) {
  const std::string sealed = std::string(12, '\0') + *from_hex("cea7403d4d606b6e074ec5d3baf39d18") +
                             *from_hex("d0d1c8a799996bf0265b98b5d48ab919");
  EXPECT_EQ(open(std::string(32, '\0'), sealed, "").value(), std::string(16, '\0'));
}

TEST(Seal, a_key_of_another_length_is_refused_by_name) {
  EXPECT_EQ(seal("short", "x", "").error().code, "InvalidKey");
  EXPECT_EQ(open("short", std::string(40, 'x'), "").error().code, "InvalidKey");
}

}  // namespace
}  // namespace crypto
