#include "control/tasks/log_group_name.h"

#include <algorithm>

#include "base/text.h"

namespace control {

bool is_log_group_name(std::string_view name) {
  if (name.empty() || name.size() > longest_log_group_name) return false;
  return std::ranges::all_of(name, [](char c) { return base::is_plain(c, ".-_/#"); });
}

}  // namespace control
