// The system's sockets without threads and waiting; for the files of net/ only.
#pragma once

#include <sys/socket.h>
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace net {

// Owns a file descriptor. -1 = none.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();

  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

enum class IoState : uint8_t { Ok, WantRead, WantWrite, Eof, Failed };

// What one try came to. `bytes` counts only with Ok; `error` is an errno and only with Failed (0 =
// the TLS session knows more).
struct IoResult {
  IoState state = IoState::Ok;
  size_t bytes = 0;
  int error = 0;
};

// None of these waits and none raises SIGPIPE.
IoResult read_socket(int fd, std::span<char> into);
IoResult write_socket(int fd, std::span<const iovec> parts);

// Where to connect to.
struct Endpoint {
  sockaddr_storage address{};
  socklen_t length = 0;
  std::string text;  // "192.0.2.1:80", "[::1]:80" or "unix:/path".
};

// Asks the resolver of the system, which may take seconds. Errors: "ConnectionRefused".
base::Result<std::vector<Endpoint>> resolve(const std::string& host, uint16_t port);
// The same for addresses in numbers only, at once; empty for a name.
std::vector<Endpoint> parse_address(const std::string& host, uint16_t port);
Endpoint make_endpoint(const sockaddr* address, socklen_t length);
// Errors: "InvalidUrl" (the path is too long for a unix socket).
base::Result<Endpoint> unix_endpoint(const std::string& path);

// A socket that does not block, listening. Errors as HttpServer::create.
base::Result<Fd> listen_tcp(const std::string& address, uint16_t port);
// Takes the place of a socket that nobody listens on any more, of nothing else.
base::Result<Fd> listen_unix(const std::string& path);
uint16_t local_port(int fd);
// As HttpRequest::remote_address.
std::string peer_text(int fd);
// What one peer has every address of, as bytes: its IPv4 address, or the first half of its IPv6
// address. All peers of a unix socket are one.
std::string peer_network(int fd);
void set_no_delay(int fd);

// A socket that does not block and is connecting: wait until it can be written, then ask
// connect_error(). Errors: "ConnectionRefused".
base::Result<Fd> start_connect(const Endpoint& endpoint);
// 0 = connected, else an errno.
int connect_error(int fd);
base::Error connect_failure(const Endpoint& endpoint, int error);
// "Connection refused" for ECONNREFUSED.
std::string errno_text(int error);

}  // namespace net
