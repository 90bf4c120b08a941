// What CloudWatch Logs allows in a request, and its sentences for what it does not.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/arn.h"
#include "base/result.h"
#include "logs/tables/groups.h"

namespace logs {

// Source: CloudWatch Logs API reference, PutRetentionPolicy.
inline constexpr std::array<int32_t, 22> retention_days = {
    1,   3,   5,   7,   14,   30,   60,   90,   120,  150,  180,
    365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653};
inline constexpr size_t max_tags = 50;
// Of one answer of GetLogEvents and FilterLogEvents.
inline constexpr int32_t max_events_a_page = 10'000;
inline constexpr int64_t max_page_bytes = 1'048'576;

// All errors are InvalidParameterException.
// 1 to 512 of the characters . - _ / # A-Z a-z 0-9. `member` is the name of the request's member.
base::Result<void> check_group_name(std::string_view name, std::string_view member);
// 1 to 512 characters without : and *.
base::Result<void> check_stream_name(std::string_view name, std::string_view member);
base::Result<void> check_retention(int32_t days);
base::Result<void> check_tags(const Tags& tags);
// `limit` or, when absent, `max`. Errors too for less than 1 or more than `max`.
base::Result<int64_t> limit_or_max(std::optional<int32_t> limit, int32_t max);
// Errors for a negative time.
base::Result<void> check_time(std::optional<int64_t> time, std::string_view member);

// "1 validation error detected: Value '...' at '...' failed to satisfy constraint: ...", as AWS
// services say it.
std::unexpected<base::Error> violation(std::string_view value, std::string_view member,
                                       std::string_view constraint);
std::unexpected<base::Error> invalid_parameter(std::string message);
std::unexpected<base::Error> group_not_found();
std::unexpected<base::Error> stream_not_found();
std::unexpected<base::Error> invalid_next_token();

// The name of a group from its name or its ARN (with or without ":*" at the end), as the members
// logGroupIdentifier and resourceArn give it.
std::string group_name_of(std::string_view identifier);

}  // namespace logs
