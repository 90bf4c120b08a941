#include "agent/host_address.h"

#include "net/http.h"

namespace agent {
namespace {

// Nothing is sent there: it only names a route. Source: RFC 5737, documentation addresses.
constexpr const char* somewhere = "192.0.2.1";

bool is_loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

}  // namespace

std::string host_address(const std::vector<std::string>& urls, const AddressTowards& towards) {
  std::string loopback;
  for (const std::string& text : urls) {
    const auto url = net::parse_url(text);
    if (!url) continue;
    const auto address = towards(url->host, url->port);
    if (!address) continue;
    if (!is_loopback(*address)) return *address;
    loopback = *address;
  }
  const auto outwards = towards(somewhere, 9);
  return outwards && !is_loopback(*outwards) ? *outwards : loopback;
}

}  // namespace agent
