#include "agent/host_ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>

#include "base/format.h"

namespace agent {
namespace {

constexpr int port_tries = 200;

// Docker's own range for such ports. Source: /proc/sys/net/ipv4/ip_local_port_range.
std::pair<int32_t, int32_t> short_lived_ports() {
  std::ifstream file("/proc/sys/net/ipv4/ip_local_port_range");
  int32_t first = 0;
  int32_t last = 0;
  if (file >> first >> last && first > 0 && last > first) return {first, last};
  return {32768, 60999};
}

bool is_free(uint16_t port, bool udp) {
  const int probe = ::socket(AF_INET, (udp ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  const bool free = ::bind(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(probe);
  return free;
}

bool all_free(int32_t first, int32_t count, bool udp) {
  for (int32_t port = first; port < first + count; ++port) {
    if (!is_free(static_cast<uint16_t>(port), udp)) return false;
  }
  return true;
}

}  // namespace

base::Result<uint16_t> find_free_ports(int32_t count, bool udp, base::Random& random) {
  const auto [first, last] = short_lived_ports();
  const int32_t places = last - first + 1 - count + 1;
  for (int i = 0; i < port_tries && places > 0; ++i) {
    const int32_t at = first + static_cast<int32_t>(random.below(static_cast<uint64_t>(places)));
    if (all_free(at, count, udp)) return static_cast<uint16_t>(at);
  }
  return base::fail(
      "ResourceInitializationError",
      base::format("the container instance has no {} free {} ports side by side between {} and {}",
                   count, udp ? "UDP" : "TCP", first, last));
}

base::Result<void> bind_ranges(const std::vector<core::PortRange>& ranges, base::Random& random,
                               json::Value& body) {
  if (ranges.empty()) return {};
  json::Value host = body["HostConfig"];
  json::Value bindings = host["PortBindings"];
  for (const core::PortRange& range : ranges) {
    const uint16_t at = TRY(find_free_ports(range.last - range.first + 1, range.udp, random));
    for (int32_t port = range.first; port <= range.last; ++port) {
      const std::string host_port = base::format("{}", at + port - range.first);
      bindings.set(
          base::format("{}/{}", port, range.udp ? "udp" : "tcp"),
          json::Value::array({json::Value::object({{"HostIp", ""}, {"HostPort", host_port}})}));
    }
  }
  host.set("PortBindings", std::move(bindings));
  body.set("HostConfig", std::move(host));
  return {};
}

}  // namespace agent
