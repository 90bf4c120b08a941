#include "control/agents/ecr_image.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace control {
namespace {

constexpr size_t account_digits = 12;

bool is_region(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return base::is_plain(c, "-") && c == base::lower(c);
  });
}

}  // namespace

std::optional<EcrRegistry> ecr_registry_of(std::string_view image) {
  const size_t slash = image.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  std::string_view host = image.substr(0, slash);
  if (host.size() <= account_digits) return std::nullopt;
  const std::string_view account = host.substr(0, account_digits);
  if (!std::ranges::all_of(account, base::is_digit)) {
    return std::nullopt;
  }
  host.remove_prefix(account_digits);
  constexpr std::array<std::string_view, 2> services{".dkr.ecr.", ".dkr.ecr-fips."};
  constexpr std::array<std::string_view, 2> domains{".amazonaws.com", ".amazonaws.com.cn"};
  for (const std::string_view service : services) {
    for (const std::string_view domain : domains) {
      if (!host.starts_with(service) || !host.ends_with(domain)) continue;
      if (host.size() <= service.size() + domain.size()) continue;
      const std::string_view region =
          host.substr(service.size(), host.size() - service.size() - domain.size());
      if (is_region(region)) return EcrRegistry{std::string(account), std::string(region)};
    }
  }
  return std::nullopt;
}

}  // namespace control
