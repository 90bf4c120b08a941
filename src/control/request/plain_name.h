// What most things of ECS may be called.
#pragma once

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace control {

// 1 to 255 letters, digits, hyphens and underscores: clusters, capacity providers, services,
// families, containers, volumes.
inline bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 &&
         std::ranges::all_of(name, [](char c) { return base::is_plain(c, "-_"); });
}

}  // namespace control
