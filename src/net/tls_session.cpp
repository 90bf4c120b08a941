#include "net/tls_session.h"

#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <string_view>

#include "base/format.h"

namespace net {
namespace {

// Below BIO_TYPE_START and free in OpenSSL's own list: BIO_get_new_index() has only 127 to give.
constexpr int bio_type = 127 | BIO_TYPE_SOURCE_SINK;

struct OpensslDelete {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <class T>
using Owned = std::unique_ptr<T, OpensslDelete>;

// Takes the oldest error of this thread's queue and empties the queue.
std::string take_openssl_error() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "unknown cause";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : base::format("OpenSSL error {:x}", code);
}

int fd_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio)));
}

// OpenSSL's own socket BIO would raise SIGPIPE; this one writes with MSG_NOSIGNAL.
int bio_write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  const iovec part{const_cast<char*>(bytes), static_cast<size_t>(size)};
  const IoResult result = write_socket(fd_of(bio), {&part, 1});
  if (result.state == IoState::Ok) return static_cast<int>(result.bytes);
  if (result.state == IoState::WantWrite) BIO_set_retry_write(bio);
  errno = result.error;
  return -1;
}

int bio_read(BIO* bio, char* into, int size) {
  BIO_clear_retry_flags(bio);
  const IoResult result = read_socket(fd_of(bio), {into, static_cast<size_t>(size)});
  switch (result.state) {
    case IoState::Ok:
      return static_cast<int>(result.bytes);
    case IoState::Eof:
      BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
      return 0;
    case IoState::WantRead:
      BIO_set_retry_read(bio);
      return -1;
    default:
      errno = result.error;
      return -1;
  }
}

long bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_FLUSH) return 1;
  if (command == BIO_CTRL_EOF) return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return 0;
}

int bio_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

Owned<BIO> pem_reader(const std::string& pem) {
  return Owned<BIO>(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
}

base::Result<void> use_certificate_chain(SSL_CTX* context, const std::string& pem) {
  const Owned<BIO> bio = pem_reader(pem);
  const Owned<X509> own(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  if (own == nullptr || SSL_CTX_use_certificate(context, own.get()) != 1) {
    return base::fail("TlsError", base::format("the server's certificate is not usable PEM: {}",
                                               take_openssl_error()));
  }
  while (true) {
    Owned<X509> next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    CHECK(SSL_CTX_add0_chain_cert(context, next.get()) == 1);
    static_cast<void>(next.release());  // The context owns it now.
  }
  ERR_clear_error();  // The end of the text is an error to the reader.
  return {};
}

base::Result<void> use_private_key(SSL_CTX* context, const std::string& pem) {
  const Owned<BIO> bio = pem_reader(pem);
  // A pass phrase would otherwise be asked for on the terminal.
  const auto no_pass_phrase = [](char*, int, int, void*) { return -1; };
  const Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_pass_phrase, nullptr));
  if (key == nullptr || SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
      SSL_CTX_check_private_key(context) != 1) {
    return base::fail("TlsError",
                      base::format("the private key is not usable PEM, is encrypted or does not "
                                   "belong to the certificate: {}",
                                   take_openssl_error()));
  }
  return {};
}

base::Result<void> trust(SSL_CTX* context, const std::string& pem) {
  if (pem.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return base::fail("TlsError", base::format("cannot read the system's trusted certificates: {}",
                                               take_openssl_error()));
  }
  const Owned<BIO> bio = pem_reader(pem);
  size_t count = 0;
  while (true) {
    const Owned<X509> next(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context), next.get());
    ++count;
  }
  ERR_clear_error();
  if (count == 0) return base::fail("TlsError", "the trusted certificates (CA) are not PEM");
  return {};
}

int select_http(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* in,
                unsigned int in_size, void*) {
  static constexpr unsigned char wanted[] = "\x08http/1.1";
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, out_size, wanted, sizeof wanted - 1, in, in_size) !=
      OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_NOACK;
  }
  *out = found;
  return SSL_TLSEXT_ERR_OK;
}

bool is_ip_address(const std::string& name) {
  in6_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &address) == 1;
}

}  // namespace

void SslDelete::operator()(ssl_ctx_st* context) const {
  SSL_CTX_free(context);
}
void SslDelete::operator()(ssl_st* session) const {
  SSL_free(session);
}
void SslDelete::operator()(bio_method_st* method) const {
  BIO_meth_free(method);
}

TlsContext::TlsContext(std::unique_ptr<ssl_ctx_st, SslDelete> context, bool is_server)
    : context_(std::move(context)),
      bio_method_(BIO_meth_new(bio_type, "berth socket")),
      is_server_(is_server) {
  CHECK(context_ != nullptr && bio_method_ != nullptr);
  BIO_meth_set_write(bio_method_.get(), bio_write);
  BIO_meth_set_read(bio_method_.get(), bio_read);
  BIO_meth_set_ctrl(bio_method_.get(), bio_control);
  BIO_meth_set_create(bio_method_.get(), bio_create);
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_2_VERSION);
  // Of TLS 1.2 what is secret for ever and authenticated: RFC 9325, section 4.2.
  CHECK(SSL_CTX_set_cipher_list(context_.get(), "ECDHE+AESGCM:ECDHE+CHACHA20") == 1);
  SSL_CTX_set_options(context_.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Buffers are given back while a connection is idle: of an agent's session that is 32 KiB.
  SSL_CTX_set_mode(context_.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                       SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

base::Result<std::shared_ptr<const TlsContext>> TlsContext::create_server(
    const TlsServerOptions& options) {
  std::shared_ptr<TlsContext> made(new TlsContext(
      std::unique_ptr<ssl_ctx_st, SslDelete>(SSL_CTX_new(TLS_server_method())), true));
  TRY_VOID(use_certificate_chain(made->get(), options.certificate_chain_pem));
  TRY_VOID(use_private_key(made->get(), options.private_key_pem));
  SSL_CTX_set_alpn_select_cb(made->get(), select_http, nullptr);
  SSL_CTX_set_session_cache_mode(made->get(), SSL_SESS_CACHE_OFF);
  return made;
}

base::Result<std::shared_ptr<const TlsContext>> TlsContext::create_client(
    const TlsClientOptions& options) {
  std::shared_ptr<TlsContext> made(new TlsContext(
      std::unique_ptr<ssl_ctx_st, SslDelete>(SSL_CTX_new(TLS_client_method())), false));
  if (options.insecure) {
    SSL_CTX_set_verify(made->get(), SSL_VERIFY_NONE, nullptr);
  } else {
    TRY_VOID(trust(made->get(), options.ca_pem));
    SSL_CTX_set_verify(made->get(), SSL_VERIFY_PEER, nullptr);
  }
  return made;
}

TlsSession::TlsSession(std::shared_ptr<const TlsContext> context, int fd,
                       const std::string& server_name)
    : context_(std::move(context)), session_(SSL_new(context_->get())) {
  CHECK(session_ != nullptr);
  BIO* bio = BIO_new(context_->bio_method());
  CHECK(bio != nullptr);
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<intptr_t>(fd)));
  SSL_set_bio(session_.get(), bio, bio);  // The session owns it now.
  if (context_->is_server()) {
    SSL_set_accept_state(session_.get());
    return;
  }
  SSL_set_connect_state(session_.get());
  if (is_ip_address(server_name)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session_.get()), server_name.c_str());
  } else {
    SSL_set1_host(session_.get(), server_name.c_str());
    SSL_set_tlsext_host_name(session_.get(), server_name.c_str());
  }
}

IoResult TlsSession::handshake() {
  ERR_clear_error();
  return to_result(SSL_do_handshake(session_.get()));
}

IoResult TlsSession::read(std::span<char> into) {
  ERR_clear_error();
  const int size = static_cast<int>(std::min(into.size(), size_t{INT_MAX}));
  return to_result(SSL_read(session_.get(), into.data(), size));
}

IoResult TlsSession::write(std::span<const char> bytes) {
  ERR_clear_error();
  const int size = static_cast<int>(std::min(bytes.size(), size_t{INT_MAX}));
  return to_result(SSL_write(session_.get(), bytes.data(), size));
}

void TlsSession::shutdown() {
  if (broken_ || SSL_in_init(session_.get()) != 0) return;
  ERR_clear_error();
  SSL_shutdown(session_.get());
  ERR_clear_error();
}

bool TlsSession::has_pending() const {
  return SSL_has_pending(session_.get()) != 0;
}

IoResult TlsSession::to_result(int returned) {
  if (returned > 0) return {IoState::Ok, static_cast<size_t>(returned), 0};
  const int system_error = errno;
  switch (SSL_get_error(session_.get(), returned)) {
    case SSL_ERROR_WANT_READ:
      return {IoState::WantRead, 0, 0};
    case SSL_ERROR_WANT_WRITE:
      return {IoState::WantWrite, 0, 0};
    case SSL_ERROR_ZERO_RETURN:
      return {IoState::Eof, 0, 0};
    case SSL_ERROR_SYSCALL:
      broken_ = true;
      error_text_ = errno_text(system_error);
      return {IoState::Failed, 0, system_error != 0 ? system_error : ECONNRESET};
    default:
      break;
  }
  broken_ = true;
  const bool cut = ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  error_text_ = take_openssl_error();
  if (cut) return {IoState::Failed, 0, ECONNRESET};
  const long verdict = SSL_get_verify_result(session_.get());
  if (!context_->is_server() && verdict != X509_V_OK) {
    error_text_ = base::format("the server's certificate is refused: {}",
                               X509_verify_cert_error_string(verdict));
  }
  return {IoState::Failed, 0, 0};
}

}  // namespace net
