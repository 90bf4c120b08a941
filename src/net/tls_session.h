// TLS over a socket that does not block; for the files of net/ only.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "net/socket.h"
#include "net/tls.h"

struct ssl_ctx_st;
struct ssl_st;
struct bio_method_st;

namespace net {

struct SslDelete {
  void operator()(ssl_ctx_st* context) const;
  void operator()(ssl_st* session) const;
  void operator()(bio_method_st* method) const;
};

// Certificates and settings that many sessions share. Immutable, and so for all threads.
class TlsContext {
 public:
  // Errors: "TlsError".
  static base::Result<std::shared_ptr<const TlsContext>> create_server(
      const TlsServerOptions& options);
  static base::Result<std::shared_ptr<const TlsContext>> create_client(
      const TlsClientOptions& options);

  ssl_ctx_st* get() const { return context_.get(); }
  const bio_method_st* bio_method() const { return bio_method_.get(); }
  bool is_server() const { return is_server_; }

 private:
  TlsContext(std::unique_ptr<ssl_ctx_st, SslDelete> context, bool is_server);
  std::unique_ptr<ssl_ctx_st, SslDelete> context_;
  std::unique_ptr<bio_method_st, SslDelete> bio_method_;
  bool is_server_;
};

// One connection. For one thread at a time.
class TlsSession {
 public:
  // `fd` is borrowed and must outlive the session. `server_name` is what a client expects of the
  // certificate; a server gives "".
  TlsSession(std::shared_ptr<const TlsContext> context, int fd, const std::string& server_name);

  IoResult handshake();
  IoResult read(std::span<char> into);
  // After WantRead or WantWrite the next call must begin with the same bytes.
  IoResult write(std::span<const char> bytes);
  // Says good-bye as far as that is possible at once.
  void shutdown();
  // Decrypted bytes wait here, which no wait for the socket would announce.
  bool has_pending() const;
  // One sentence about the last Failed.
  const std::string& error_text() const { return error_text_; }

 private:
  IoResult to_result(int returned);
  std::shared_ptr<const TlsContext> context_;  // Shared by all sessions of a server or client.
  std::unique_ptr<ssl_st, SslDelete> session_;
  std::string error_text_;
  bool broken_ = false;
};

}  // namespace net
