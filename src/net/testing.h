// What several tests of net/ need; no test program of another folder includes it.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <poll.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/queue.h"
#include "net/http_parser.h"
#include "net/socket.h"
#include "net/tls.h"

namespace net::testing {

constexpr int patience_ms = 60'000;
constexpr const char* simple_get = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";

template <class T>
T must(base::Result<T> result) {
  if (!result) ADD_FAILURE() << result.error().code << ": " << result.error().message;
  return std::move(result).value();
}

// A peer that sends exactly the bytes that a test wants, and waits with poll only.
class RawPeer {
 public:
  explicit RawPeer(uint16_t port) : RawPeer(parse_address("127.0.0.1", port).front()) {}
  explicit RawPeer(const Endpoint& endpoint) : fd_(must(start_connect(endpoint))) {
    wait(POLLOUT);
    EXPECT_EQ(connect_error(fd_.get()), 0);
  }
  explicit RawPeer(Fd fd) : fd_(std::move(fd)) {}

  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      const iovec part{const_cast<char*>(bytes.data()), bytes.size()};
      const IoResult result = write_socket(fd_.get(), {&part, 1});
      if (result.state == IoState::Failed) return;  // The peer has closed; a read tells.
      if (result.state == IoState::WantWrite && !wait(POLLOUT)) return;
      bytes.remove_prefix(result.bytes);
    }
  }

  // The next response; nullopt when the peer closes instead.
  std::optional<HttpResponse> response(bool to_head = false) {
    HttpParser parser(HttpParser::Kind::Response, 65536);
    if (to_head) parser.expect_no_body();
    while (true) {
      const ParseStep step = parser.feed(input_);
      input_.erase(0, step.consumed);
      if (step.state == ParseState::Done) return std::move(parser.response());
      if (step.state == ParseState::Head) continue;
      if (step.state == ParseState::Failed) {
        ADD_FAILURE() << "not a response: " << parser.failure_text();
        return std::nullopt;
      }
      if (!fill()) return std::nullopt;
    }
  }

  int status() { return response().value_or(HttpResponse{0, {}, ""}).status; }

  // All that comes until the peer closes.
  std::string rest() {
    while (fill()) {
    }
    return std::exchange(input_, {});
  }
  bool is_closed() { return rest().empty(); }

  // Waits until `text` has come and takes everything up to its end.
  bool take_until(std::string_view text) {
    while (true) {
      const size_t at = input_.find(text);
      if (at != std::string::npos) {
        input_.erase(0, at + text.size());
        return true;
      }
      if (!fill()) return false;
    }
  }

  void half_close() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_ = Fd(); }

 private:
  bool wait(short events) {
    pollfd wanted{fd_.get(), events, 0};
    if (::poll(&wanted, 1, patience_ms) == 1) return true;
    ADD_FAILURE() << "the peer did not move for " << patience_ms << " ms";
    return false;
  }

  bool fill() {
    std::array<char, 65536> bytes;
    while (true) {
      const IoResult result = read_socket(fd_.get(), bytes);
      if (result.state == IoState::Ok) {
        input_.append(bytes.data(), result.bytes);
        return true;
      }
      if (result.state != IoState::WantRead || !wait(POLLIN)) return false;
    }
  }

  Fd fd_;
  std::string input_;
};

// Hands a value from one thread to the test.
template <class T>
class Mailbox {
 public:
  void put(T value) { queue_.push(std::move(value)); }
  // Fails the test when nothing comes.
  T take() {
    auto batch = queue_.pop_batch(1, std::chrono::milliseconds{patience_ms});
    if (batch.empty()) {
      ADD_FAILURE() << "nothing came for " << patience_ms << " ms";
      return T{};
    }
    return std::move(batch.front());
  }
  bool is_empty() const { return queue_.size() == 0; }

 private:
  base::Queue<T> queue_{1000};
};

inline std::string pem_text(const std::function<void(BIO*)>& write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), &BIO_free);
  write(bio.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// A certificate for `name` ("DNS:localhost" or "IP:127.0.0.1") that signs itself, valid for a day.
inline TlsServerOptions make_certificate(const std::string& name) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"),
                                                                &EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86400);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("berth test"), -1, -1, 0);
  X509_set_issuer_name(certificate.get(), subject);
  X509_EXTENSION* extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, name.c_str());
  X509_add_ext(certificate.get(), extension, -1);
  X509_EXTENSION_free(extension);
  X509_sign(certificate.get(), key.get(), EVP_sha256());
  return {pem_text([&](BIO* bio) { PEM_write_bio_X509(bio, certificate.get()); }),
          pem_text([&](BIO* bio) {
            PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace net::testing
