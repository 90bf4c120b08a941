// What most things of ECS may be called.
#pragma once

#include <string_view>

namespace control {

// 1 to 255 letters, digits, hyphens and underscores: clusters, capacity providers, services,
// families, containers, volumes.
inline bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 255) return false;
  for (const char c : name) {
    const bool allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!allowed) return false;
  }
  return true;
}

}  // namespace control
