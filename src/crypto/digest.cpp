#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "crypto/crypto.h"

namespace crypto {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
  void operator()(EVP_MD* algorithm) const { EVP_MD_free(algorithm); }
  void operator()(EVP_MAC* algorithm) const { EVP_MAC_free(algorithm); }
};

std::unique_ptr<EVP_MAC_CTX, FreeContext> keyed_context(std::string_view key) {
  const std::unique_ptr<EVP_MAC, FreeContext> algorithm(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  CHECK(algorithm);
  std::unique_ptr<EVP_MAC_CTX, FreeContext> context(EVP_MAC_CTX_new(algorithm.get()));
  CHECK(context);
  // OpenSSL takes the name as a pointer to mutable text, and a null key as "keep the one before".
  char digest_name[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest_name, 0),
      OSSL_PARAM_construct_end()};
  static constexpr unsigned char no_key = 0;
  const auto* bytes = key.empty() ? &no_key : reinterpret_cast<const unsigned char*>(key.data());
  CHECK(EVP_MAC_init(context.get(), bytes, key.size(), parameters) == 1);
  return context;
}

}  // namespace

struct Sha256::State {
  std::unique_ptr<EVP_MD, FreeContext> algorithm{EVP_MD_fetch(nullptr, "SHA256", nullptr)};
  std::unique_ptr<EVP_MD_CTX, FreeContext> context{EVP_MD_CTX_new()};
};

Sha256::Sha256() : state_(std::make_unique<State>()) {
  CHECK(state_->algorithm && state_->context);
  CHECK(EVP_DigestInit_ex2(state_->context.get(), state_->algorithm.get(), nullptr) == 1);
}
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;
Sha256::~Sha256() = default;

void Sha256::update(std::string_view bytes) {
  CHECK(EVP_DigestUpdate(state_->context.get(), bytes.data(), bytes.size()) == 1);
}

Digest Sha256::finish() {
  Digest digest;
  unsigned int size = 0;
  CHECK(EVP_DigestFinal_ex(state_->context.get(), digest.data(), &size) == 1);
  CHECK(size == digest.size());
  CHECK(EVP_DigestInit_ex2(state_->context.get(), nullptr, nullptr) == 1);
  return digest;
}

Digest Sha256::of(std::string_view bytes) {
  update(bytes);
  return finish();
}

Digest sha256(std::string_view bytes) {
  return Sha256().of(bytes);
}

std::string sha256_hex(std::string_view bytes) {
  return to_hex(sha256(bytes));
}

struct Hmac::State {
  std::unique_ptr<EVP_MAC_CTX, FreeContext> context;
};

Hmac::Hmac(std::string_view key) : state_(std::make_unique<State>(State{keyed_context(key)})) {}
Hmac::Hmac(Hmac&&) noexcept = default;
Hmac& Hmac::operator=(Hmac&&) noexcept = default;
Hmac::~Hmac() = default;

Digest Hmac::sign(std::string_view message) {
  EVP_MAC_CTX* context = state_->context.get();
  Digest digest;
  size_t size = 0;
  // Without a key the context goes back to where the one given first left it.
  CHECK(EVP_MAC_init(context, nullptr, 0, nullptr) == 1);
  CHECK(EVP_MAC_update(context, reinterpret_cast<const unsigned char*>(message.data()),
                       message.size()) == 1);
  CHECK(EVP_MAC_final(context, digest.data(), &size, digest.size()) == 1);
  CHECK(size == digest.size());
  return digest;
}

Digest hmac_sha256(std::string_view key, std::string_view message) {
  return Hmac(key).sign(message);
}

}  // namespace crypto
