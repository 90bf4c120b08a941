#include "net/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "base/format.h"
#include "net/socket.h"

namespace net {
namespace {

std::string number_of(const sockaddr_storage& address) {
  char text[INET6_ADDRSTRLEN] = {};
  const auto* const v4 = reinterpret_cast<const sockaddr_in*>(&address);
  const auto* const v6 = reinterpret_cast<const sockaddr_in6*>(&address);
  const void* const bytes = address.ss_family == AF_INET ? static_cast<const void*>(&v4->sin_addr)
                                                         : static_cast<const void*>(&v6->sin6_addr);
  return inet_ntop(address.ss_family, bytes, text, sizeof text) == nullptr ? "" : text;
}

}  // namespace

base::Result<uint16_t> find_free_port(const std::string& address) {
  const Fd fd = TRY(listen_tcp(address, 0));
  return local_port(fd.get());
}

base::Result<void> check_port_free(const std::string& address, uint16_t port) {
  const Fd fd = TRY(listen_tcp(address, port));
  return {};
}

base::Result<std::string> address_towards(const std::string& host, uint16_t port) {
  for (const Endpoint& endpoint : TRY(resolve(host, port))) {
    const int family = endpoint.address.ss_family;
    if (family != AF_INET && family != AF_INET6) continue;
    // Connecting a datagram socket only looks the route up.
    const Fd fd(::socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd) continue;
    const auto* const there = reinterpret_cast<const sockaddr*>(&endpoint.address);
    if (::connect(fd.get(), there, endpoint.length) != 0) continue;
    sockaddr_storage here{};
    socklen_t length = sizeof here;
    if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&here), &length) != 0) continue;
    const std::string text = number_of(here);
    if (!text.empty()) return text;
  }
  return base::fail("ConnectionRefused", base::format("There is no route to {}.", host));
}

}  // namespace net
