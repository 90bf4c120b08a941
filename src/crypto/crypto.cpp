#include "crypto/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/text.h"

namespace crypto {
namespace {

constexpr size_t key_size = 32;
constexpr size_t nonce_size = 12;
constexpr size_t tag_size = 16;

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

std::unexpected<base::Error> invalid_key(std::string_view key) {
  return base::fail("InvalidKey", "An AES-256 key has 32 bytes, this one has " +
                                      std::to_string(key.size()) + ".");
}

// OpenSSL counts in int.
bool fits(std::string_view text) {
  return text.size() <= size_t{1} << 30;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  static constexpr char alphabet[] = "0123456789abcdef";
  std::string digits(bytes.size() * 2, '0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    digits[2 * i] = alphabet[byte >> 4];
    digits[2 * i + 1] = alphabet[byte & 15];
  }
  return digits;
}

std::string to_hex(const Digest& digest) {
  return to_hex(as_text(digest));
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes(digits.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int high = base::hex_value(digits[2 * i]);
    const int low = base::hex_value(digits[2 * i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes[i] = static_cast<char>(high * 16 + low);
  }
  return bytes;
}

bool constant_time_equal(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string random_bytes(size_t count) {
  std::string bytes(count, '\0');
  CHECK(count <= size_t{1} << 30);
  CHECK(RAND_bytes(bytes_of(bytes), static_cast<int>(count)) == 1);
  return bytes;
}

base::Result<std::string> seal(std::string_view key, std::string_view plaintext,
                               std::string_view associated_data) {
  if (key.size() != key_size) return invalid_key(key);
  CHECK(fits(plaintext) && fits(associated_data));
  std::string sealed = random_bytes(nonce_size);
  sealed.resize(nonce_size + plaintext.size() + tag_size);
  unsigned char* out = bytes_of(sealed);
  const CipherContext context(EVP_CIPHER_CTX_new());
  CHECK(context);
  int written = 0;
  CHECK(EVP_EncryptInit_ex2(context.get(), EVP_aes_256_gcm(), bytes_of(key), out, nullptr) == 1);
  CHECK(EVP_EncryptUpdate(context.get(), nullptr, &written, bytes_of(associated_data),
                          static_cast<int>(associated_data.size())) == 1);
  // An update of no bytes with a null output would count as associated data's.
  CHECK(EVP_EncryptUpdate(context.get(), out + nonce_size, &written, bytes_of(plaintext),
                          static_cast<int>(plaintext.size())) == 1);
  CHECK(EVP_EncryptFinal_ex(context.get(), out + nonce_size + plaintext.size(), &written) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_GET_TAG, tag_size,
                            out + nonce_size + plaintext.size()) == 1);
  return sealed;
}

base::Result<std::string> open(std::string_view key, std::string_view sealed,
                               std::string_view associated_data) {
  if (key.size() != key_size) return invalid_key(key);
  const auto invalid = [] {
    return base::fail("InvalidCiphertext",
                      "The sealed text does not open: it was changed or cut, or it was sealed with "
                      "another key or for another purpose.");
  };
  if (sealed.size() < nonce_size + tag_size) return invalid();
  CHECK(fits(sealed) && fits(associated_data));
  const std::string_view ciphertext =
      sealed.substr(nonce_size, sealed.size() - nonce_size - tag_size);
  std::string tag(sealed.substr(sealed.size() - tag_size));
  std::string plaintext(ciphertext.size() + 1, '\0');  // Never null, as in seal().
  const CipherContext context(EVP_CIPHER_CTX_new());
  CHECK(context);
  int written = 0;
  CHECK(EVP_DecryptInit_ex2(context.get(), EVP_aes_256_gcm(), bytes_of(key), bytes_of(sealed),
                            nullptr) == 1);
  CHECK(EVP_DecryptUpdate(context.get(), nullptr, &written, bytes_of(associated_data),
                          static_cast<int>(associated_data.size())) == 1);
  CHECK(EVP_DecryptUpdate(context.get(), bytes_of(plaintext), &written, bytes_of(ciphertext),
                          static_cast<int>(ciphertext.size())) == 1);
  CHECK(EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_AEAD_SET_TAG, tag_size, tag.data()) == 1);
  if (EVP_DecryptFinal_ex(context.get(), bytes_of(plaintext) + ciphertext.size(), &written) != 1) {
    return invalid();
  }
  plaintext.resize(ciphertext.size());
  return plaintext;
}

}  // namespace crypto
