#include "net/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <system_error>

#include "base/format.h"

namespace net {
namespace {

constexpr int listen_backlog = 4096;

struct AddrInfoDelete {
  void operator()(addrinfo* info) const { freeaddrinfo(info); }
};

base::Result<std::vector<Endpoint>> look_up(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  const std::unique_ptr<addrinfo, AddrInfoDelete> owner(found);
  if (error != 0) {
    return base::fail("ConnectionRefused",
                      base::format("cannot find the address of {}: {}", host, gai_strerror(error)));
  }
  std::vector<Endpoint> endpoints;
  for (const addrinfo* info = found; info != nullptr; info = info->ai_next) {
    endpoints.push_back(make_endpoint(info->ai_addr, info->ai_addrlen));
  }
  return endpoints;
}

base::Error listen_failure(const std::string& where, int error) {
  const std::string code = error == EADDRINUSE                 ? "AddressInUse"
                           : error == EACCES || error == EPERM ? "AccessDenied"
                                                               : "InvalidAddress";
  return {code, base::format("cannot listen on {}: {}", where, errno_text(error))};
}

base::Result<Fd> listen_on(const Endpoint& endpoint) {
  Fd fd(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return base::fail(listen_failure(endpoint.text, errno));
  const int on = 1;
  if (endpoint.address.ss_family != AF_UNIX) {
    setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  }
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&endpoint.address), endpoint.length) !=
          0 ||
      ::listen(fd.get(), listen_backlog) != 0) {
    return base::fail(listen_failure(endpoint.text, errno));
  }
  return fd;
}

// A unix socket outlives the process that made it; one that refuses connections has no owner.
void remove_stale_socket(const Endpoint& endpoint, const std::string& path) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
  const Fd probe(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!probe) return;
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&endpoint.address),
                endpoint.length) != 0 &&
      errno == ECONNREFUSED) {
    ::unlink(path.c_str());
  }
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

std::string errno_text(int error) {
  return std::generic_category().message(error);
}

IoResult read_socket(int fd, std::span<char> into) {
  while (true) {
    const ssize_t count = ::recv(fd, into.data(), into.size(), 0);
    if (count > 0) return {IoState::Ok, static_cast<size_t>(count), 0};
    if (count == 0) return {IoState::Eof, 0, 0};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::WantRead, 0, 0};
    return {IoState::Failed, 0, errno};
  }
}

IoResult write_socket(int fd, std::span<const iovec> parts) {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(parts.data());
  message.msg_iovlen = parts.size();
  while (true) {
    const ssize_t count = ::sendmsg(fd, &message, MSG_NOSIGNAL);
    if (count >= 0) return {IoState::Ok, static_cast<size_t>(count), 0};
    if (errno == EINTR) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return {IoState::WantWrite, 0, 0};
    return {IoState::Failed, 0, errno};
  }
}

base::Result<std::vector<Endpoint>> resolve(const std::string& host, uint16_t port) {
  return look_up(host, port, AI_ADDRCONFIG);
}

std::vector<Endpoint> parse_address(const std::string& host, uint16_t port) {
  return look_up(host, port, AI_NUMERICHOST).value_or(std::vector<Endpoint>{});
}

Endpoint make_endpoint(const sockaddr* address, socklen_t length) {
  Endpoint endpoint;
  std::memcpy(&endpoint.address, address, length);
  endpoint.length = length;
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address->sa_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&endpoint.address);
    inet_ntop(AF_INET, &in->sin_addr, text.data(), text.size());
    endpoint.text = base::format("{}:{}", text.data(), ntohs(in->sin_port));
  } else if (address->sa_family == AF_INET6) {
    const auto* in = reinterpret_cast<const sockaddr_in6*>(&endpoint.address);
    inet_ntop(AF_INET6, &in->sin6_addr, text.data(), text.size());
    endpoint.text = base::format("[{}]:{}", text.data(), ntohs(in->sin6_port));
  } else {
    endpoint.text = "unix";
  }
  return endpoint;
}

base::Result<Endpoint> unix_endpoint(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof address.sun_path) {
    return base::fail("InvalidUrl", base::format("the path of a unix socket has 1 to {} bytes: {}",
                                                 sizeof address.sun_path - 1, path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  Endpoint endpoint = make_endpoint(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  endpoint.text = "unix:" + path;
  return endpoint;
}

base::Result<Fd> listen_tcp(const std::string& address, uint16_t port) {
  const std::vector<Endpoint> endpoints = parse_address(address, port);
  if (endpoints.empty()) {
    return base::fail("InvalidAddress",
                      base::format("cannot listen on {}: it is not an IP address", address));
  }
  return listen_on(endpoints.front());
}

base::Result<Fd> listen_unix(const std::string& path) {
  auto endpoint = unix_endpoint(path);
  if (!endpoint) return base::fail("InvalidAddress", endpoint.error().message);
  remove_stale_socket(*endpoint, path);
  return listen_on(*endpoint);
}

uint16_t local_port(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  CHECK(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  if (address.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  return 0;
}

std::string peer_text(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  // Fails when the peer is gone already; the next read says so.
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "unknown";
  return make_endpoint(reinterpret_cast<const sockaddr*>(&address), length).text;
}

std::string peer_network(int fd) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &length) != 0) return "unknown";
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    return {reinterpret_cast<const char*>(&v4.sin_addr), sizeof v4.sin_addr};
  }
  if (address.ss_family != AF_INET6) return "local";
  const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
  const auto* const bytes = reinterpret_cast<const char*>(&v6.sin6_addr);
  // An IPv4 peer on a socket of both stands in the last four bytes.
  return IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr) ? std::string(bytes + 12, 4) : std::string(bytes, 8);
}

void set_no_delay(int fd) {
  const int on = 1;
  // Fails on a unix socket, which never delays.
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

base::Result<Fd> start_connect(const Endpoint& endpoint) {
  Fd fd(::socket(endpoint.address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return base::fail(connect_failure(endpoint, errno));
  if (endpoint.address.ss_family != AF_UNIX) set_no_delay(fd.get());
  const auto* address = reinterpret_cast<const sockaddr*>(&endpoint.address);
  if (::connect(fd.get(), address, endpoint.length) != 0 && errno != EINPROGRESS &&
      errno != EINTR) {
    return base::fail(connect_failure(endpoint, errno));
  }
  return fd;
}

int connect_error(int fd) {
  int error = 0;
  socklen_t length = sizeof error;
  CHECK(::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0);
  return error;
}

base::Error connect_failure(const Endpoint& endpoint, int error) {
  const char* hint = error == ECONNREFUSED || error == ENOENT ? "; is the server running there?"
                     : error == EACCES                        ? "; may this user use the socket?"
                                                              : "";
  return {error == ETIMEDOUT ? "Timeout" : "ConnectionRefused",
          base::format("cannot connect to {}: {}{}", endpoint.text, errno_text(error), hint)};
}

}  // namespace net
