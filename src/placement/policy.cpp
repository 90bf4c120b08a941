#include "placement/policy.h"

#include <array>
#include <utility>

namespace placement {
namespace {

constexpr std::array<std::pair<std::string_view, Policy>, 4> names = {{
    {"berth", Policy::Berth},
    {"fgd", Policy::Fgd},
    {"bestfit", Policy::BestFit},
    {"random", Policy::Random},
}};

}  // namespace

std::string_view to_string(Policy policy) {
  return names[static_cast<size_t>(policy)].first;
}

std::optional<Policy> parse_policy(std::string_view text) {
  for (const auto& [name, policy] : names) {
    if (name == text) return policy;
  }
  return std::nullopt;
}

}  // namespace placement
