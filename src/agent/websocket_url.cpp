#include "agent/websocket_url.h"

#include "base/format.h"

namespace agent {
namespace {

// Source: RFC 3986, section 2.3, "Unreserved Characters".
std::string percent_encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                            (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~';
    if (unreserved) {
      out += c;
    } else {
      out += base::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace

base::Result<net::Url> websocket_url(
    const std::string& endpoint,
    const std::vector<std::pair<std::string_view, std::string>>& query) {
  std::string text = endpoint;
  while (text.ends_with('/')) text.pop_back();
  text += "/ws";
  char separator = '?';
  for (const auto& [name, value] : query) {
    text += base::format("{}{}={}", separator, name, percent_encoded(value));
    separator = '&';
  }
  return net::parse_url(text);
}

}  // namespace agent
