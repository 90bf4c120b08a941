#include "control/tasks/log_group_name.h"

#include <algorithm>

namespace control {

bool is_log_group_name(std::string_view name) {
  if (name.empty() || name.size() > longest_log_group_name) return false;
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view(".-_/#").find(c) != std::string_view::npos;
  });
}

}  // namespace control
