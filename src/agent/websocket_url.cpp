#include "agent/websocket_url.h"

#include "base/format.h"
#include "base/text.h"

namespace agent {
base::Result<net::Url> websocket_url(
    const std::string& endpoint,
    const std::vector<std::pair<std::string_view, std::string>>& query) {
  std::string text = endpoint;
  while (text.ends_with('/')) text.pop_back();
  text += "/ws";
  char separator = '?';
  for (const auto& [name, value] : query) {
    text += base::format("{}{}={}", separator, name, base::percent_encoded(value));
    separator = '&';
  }
  return net::parse_url(text);
}

}  // namespace agent
