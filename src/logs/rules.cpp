#include "logs/rules.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace logs {
namespace {

constexpr size_t max_name_length = 512;
constexpr size_t max_tag_key_length = 128;
constexpr size_t max_tag_value_length = 256;

bool is_group_name_character(char c) {
  return base::is_plain(c, ".-_/#");
}

// Characters of a UTF-8 text.
size_t length_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; }));
}

base::Result<void> check_length(std::string_view text, std::string_view member, size_t max) {
  if (text.empty()) {
    return violation(text, member, "Member must have length greater than or equal to 1");
  }
  if (length_of(text) > max) {
    return violation(text, member,
                     base::format("Member must have length less than or equal to {}", max));
  }
  return {};
}

}  // namespace

std::unexpected<base::Error> invalid_parameter(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

std::unexpected<base::Error> violation(std::string_view value, std::string_view member,
                                       std::string_view constraint) {
  return invalid_parameter(
      base::format("1 validation error detected: Value '{}' at '{}' failed to satisfy "
                   "constraint: {}",
                   value, member, constraint));
}

std::unexpected<base::Error> group_not_found() {
  return base::fail("ResourceNotFoundException", "The specified log group does not exist.");
}

std::unexpected<base::Error> stream_not_found() {
  return base::fail("ResourceNotFoundException", "The specified log stream does not exist.");
}

std::unexpected<base::Error> invalid_next_token() {
  return invalid_parameter("The specified nextToken is invalid.");
}

base::Result<void> check_group_name(std::string_view name, std::string_view member) {
  TRY_VOID(check_length(name, member, max_name_length));
  if (!std::ranges::all_of(name, is_group_name_character)) {
    return violation(name, member,
                     R"(Member must satisfy regular expression pattern: [\.\-_/#A-Za-z0-9]+)");
  }
  return {};
}

base::Result<void> check_stream_name(std::string_view name, std::string_view member) {
  TRY_VOID(check_length(name, member, max_name_length));
  if (name.find_first_of(":*") != std::string_view::npos) {
    return violation(name, member, "Member must satisfy regular expression pattern: [^:*]*");
  }
  return {};
}

base::Result<void> check_retention(int32_t days) {
  if (std::ranges::find(retention_days, days) != retention_days.end()) return {};
  return violation(
      base::format("{}", days), "retentionInDays",
      base::format("Member must satisfy enum value set: [{}]", base::join(retention_days, ", ")));
}

base::Result<void> check_tags(const Tags& tags) {
  if (tags.size() > max_tags) {
    return violation(base::format("{} tags", tags.size()), "tags",
                     base::format("Member must have length less than or equal to {}", max_tags));
  }
  for (const auto& [key, value] : tags) {
    TRY_VOID(check_length(key, "tags.key", max_tag_key_length));
    if (length_of(value) > max_tag_value_length) {
      return violation(
          value, "tags.value",
          base::format("Member must have length less than or equal to {}", max_tag_value_length));
    }
    if (key.starts_with("aws:")) {
      return invalid_parameter(base::format(
          "The tag key '{}' starts with aws:, which is reserved: use another prefix.", key));
    }
  }
  return {};
}

base::Result<int64_t> limit_or_max(std::optional<int32_t> limit, int32_t max) {
  if (!limit) return max;
  if (*limit < 1) {
    return violation(base::format("{}", *limit), "limit",
                     "Member must have value greater than or equal to 1");
  }
  if (*limit > max) {
    return violation(base::format("{}", *limit), "limit",
                     base::format("Member must have value less than or equal to {}", max));
  }
  return *limit;
}

base::Result<void> check_time(std::optional<int64_t> time, std::string_view member) {
  if (!time || *time >= 0) return {};
  return violation(base::format("{}", *time), member,
                   "Member must have value greater than or equal to 0");
}

std::string group_name_of(std::string_view identifier) {
  const auto arn = base::parse_arn(identifier);
  constexpr std::string_view type = "log-group:";
  if (!arn || !arn->resource.starts_with(type)) return std::string(identifier);
  std::string_view name = std::string_view(arn->resource).substr(type.size());
  if (name.ends_with(":*")) name.remove_suffix(2);
  return std::string(name);
}

}  // namespace logs
