// What names a log group. Source: CloudWatch Logs API reference, CreateLogGroup.
#pragma once

#include <cstddef>
#include <string_view>

namespace control {

inline constexpr size_t longest_log_group_name = 512;

bool is_log_group_name(std::string_view name);

}  // namespace control
