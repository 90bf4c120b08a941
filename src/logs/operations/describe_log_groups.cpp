#include <algorithm>

#include "base/format.h"
#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {
namespace {

constexpr int32_t max_groups = 50;
constexpr std::string_view token_start = "n/";

api::logs::LogGroup describe_group(const Owner& owner, const Group& group, bool whole) {
  const std::string arn = group_arn(owner, group.name);
  api::logs::LogGroup answer;
  answer.log_group_name = group.name;
  answer.creation_time = group.creation_time;
  answer.arn = arn + ":*";
  if (!whole) return answer;
  answer.retention_in_days = group.retention_in_days;
  answer.metric_filter_count = 0;
  answer.stored_bytes = group.stored_bytes;
  answer.log_group_class = api::parse_enum<api::logs::LogGroupClass>(group.log_group_class);
  answer.log_group_arn = arn;
  answer.deletion_protection_enabled = group.deletion_protection_enabled;
  return answer;
}

// By logGroupIdentifiers: all that exist, in the order of the request.
base::Result<api::logs::DescribeLogGroupsResponse> describe_named(
    Context& context, const api::logs::DescribeLogGroupsRequest& request) {
  if (request.log_group_name_prefix || request.log_group_name_pattern || request.log_group_class ||
      request.next_token || request.limit) {
    return invalid_parameter("logGroupIdentifiers cannot be combined with other filters.");
  }
  api::logs::DescribeLogGroupsResponse response;
  response.log_groups.set_present();
  for (const std::string& identifier : request.log_group_identifiers) {
    const auto group = TRY(context.groups.find(group_name_of(identifier)));
    if (group) response.log_groups.push_back(describe_group(context.owner, *group, true));
  }
  return response;
}

}  // namespace

base::Result<api::logs::DescribeLogGroupsResponse> describe_log_groups(
    Context& context, const api::logs::DescribeLogGroupsRequest& request) {
  const int64_t limit = TRY(limit_or_max(request.limit, max_groups));
  if (!request.log_group_identifiers.empty()) return describe_named(context, request);
  if (request.log_group_name_prefix && request.log_group_name_pattern) {
    return invalid_parameter(
        "LogGroup name prefix and LogGroup name pattern are mutually exclusive parameters.");
  }
  const std::string prefix = request.log_group_name_prefix.value_or("");
  const std::string pattern = request.log_group_name_pattern.value_or("");
  if (request.log_group_name_prefix) TRY_VOID(check_group_name(prefix, "logGroupNamePrefix"));
  if (request.next_token && !request.next_token->starts_with(token_start)) {
    return invalid_next_token();
  }
  const std::string after =
      request.next_token ? request.next_token->substr(token_start.size()) : "";

  api::logs::DescribeLogGroupsResponse response;
  response.log_groups.set_present();
  const bool whole = !request.log_group_name_pattern;
  TRY_VOID(context.groups.visit(after, prefix, [&](const Group& group) {
    if (!group.name.contains(pattern)) return true;
    if (request.log_group_class &&
        group.log_group_class != api::to_string(*request.log_group_class)) {
      return true;
    }
    if (std::ssize(response.log_groups) == limit) {
      response.next_token =
          base::format("{}{}", token_start, *response.log_groups.back().log_group_name);
      return false;
    }
    response.log_groups.push_back(describe_group(context.owner, group, whole));
    return true;
  }));
  return response;
}

}  // namespace logs
