#include "base/arn.h"

#include <array>

#include "base/format.h"

namespace base {

std::string Arn::str() const {
  return format("arn:{}:{}:{}:{}:{}", partition, service, region, account, resource);
}

std::string_view Arn::resource_type() const {
  return std::string_view(resource).substr(0, resource.find('/'));
}

std::string_view Arn::resource_id() const {
  const size_t slash = resource.find('/');
  return slash == std::string::npos ? std::string_view{}
                                    : std::string_view(resource).substr(slash + 1);
}

std::optional<Arn> parse_arn(std::string_view text) {
  std::array<std::string, 5> parts;
  for (std::string& part : parts) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return std::nullopt;
    part = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (parts[0] != "arn" || text.empty()) return std::nullopt;
  return Arn{parts[1], parts[2], parts[3], parts[4], std::string(text)};
}

}  // namespace base
