// The one door to OpenSSL's primitives: hashes, keyed hashes, sealing, comparison, randomness.
// Everything here only computes, random_bytes and seal excepted: those draw from the operating
// system, so the pure zone does not call them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace crypto {

// 32 bytes of SHA-256 or HMAC-SHA256.
using Digest = std::array<uint8_t, 32>;

// The bytes of a digest as they are, for use as a key or a message.
inline std::string_view as_text(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// Lower-case hexadecimal digits, two for a byte.
std::string to_hex(std::string_view bytes);
std::string to_hex(const Digest& digest);
// The inverse of to_hex, upper-case digits accepted. nullopt for an odd length or another
// character.
std::optional<std::string> from_hex(std::string_view digits);

// SHA-256 in pieces; the object is reusable, and keeping one saves OpenSSL's look-up of the
// algorithm, which costs more than the hash of a short text. One thread at a time.
// Source: FIPS 180-4.
class Sha256 {
 public:
  Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;
  ~Sha256();

  void update(std::string_view bytes);
  // The digest of everything since construction or the last finish(); starts anew.
  Digest finish();
  // The digest of `bytes` alone: update and finish.
  Digest of(std::string_view bytes);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One-shot SHA-256. Code that hashes often keeps a Sha256.
Digest sha256(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);

// HMAC-SHA256 with its key set up once (432 ns a message against 2092 ns for a one-shot HMAC()).
// One thread at a time. Source: RFC 2104, FIPS 198-1.
class Hmac {
 public:
  explicit Hmac(std::string_view key);
  Hmac(Hmac&&) noexcept;
  Hmac& operator=(Hmac&&) noexcept;
  ~Hmac();

  // The keyed hash of `message`; may be called any number of times.
  Digest sign(std::string_view message);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Digest hmac_sha256(std::string_view key, std::string_view message);

// True when both are the same bytes. The time taken depends on the lengths only.
bool constant_time_equal(std::string_view a, std::string_view b);

// `count` unpredictable bytes from the operating system.
std::string random_bytes(size_t count);

// AES-256-GCM under a 32-byte key. The answer is nonce (12 bytes) + ciphertext + tag (16 bytes);
// the nonce is random, so one key may seal up to 2^32 texts. `associated_data` is not stored, but
// open() succeeds only with the same. Source: NIST SP 800-38D. Errors: "InvalidKey" for a key of
// another length.
base::Result<std::string> seal(std::string_view key, std::string_view plaintext,
                               std::string_view associated_data);
// The inverse of seal(). Errors: "InvalidKey"; "InvalidCiphertext" when the text was cut, changed,
// sealed under another key or with other associated data.
base::Result<std::string> open(std::string_view key, std::string_view sealed,
                               std::string_view associated_data);

}  // namespace crypto
