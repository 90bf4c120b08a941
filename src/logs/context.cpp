#include "logs/context.h"

#include "base/arn.h"
#include "base/format.h"
#include "logs/rules.h"

namespace logs {

int64_t now_ms(const Context& context) {
  return context.now.time_since_epoch().count();
}

std::string group_arn(const Owner& owner, std::string_view group_name) {
  return base::Arn{.service = "logs",
                   .region = owner.region,
                   .account = owner.account,
                   .resource = base::format("log-group:{}", group_name)}
      .str();
}

base::Result<Group> existing_group(Context& context, const std::optional<std::string>& name) {
  TRY_VOID(check_group_name(name.value_or(""), "logGroupName"));
  auto group = TRY(context.groups.find(*name));
  if (!group) return group_not_found();
  return *std::move(group);
}

base::Result<Group> existing_group(Context& context, const std::optional<std::string>& name,
                                   const std::optional<std::string>& identifier) {
  if (name && identifier) {
    return invalid_parameter(
        "LogGroupName and LogGroupIdentifier cannot be used together: send one of them.");
  }
  if (!name && !identifier) {
    return invalid_parameter("Either logGroupName or logGroupIdentifier must be given.");
  }
  if (identifier) return existing_group(context, std::optional(group_name_of(*identifier)));
  return existing_group(context, name);
}

base::Result<Group> existing_group_by_arn(Context& context, const std::optional<std::string>& arn) {
  const auto parsed = base::parse_arn(arn.value_or(""));
  if (!parsed || parsed->service != "logs" || !parsed->resource.starts_with("log-group:")) {
    return invalid_parameter(base::format("'{}' is not the ARN of a log group, such as {}.",
                                          arn.value_or(""), group_arn(context.owner, "NAME")));
  }
  if (parsed->region != context.owner.region || parsed->account != context.owner.account) {
    return group_not_found();
  }
  return existing_group(context, std::optional(group_name_of(*arn)));
}

base::Result<Stream> existing_stream(Context& context, const Group& group,
                                     const std::optional<std::string>& name) {
  TRY_VOID(check_stream_name(name.value_or(""), "logStreamName"));
  auto stream = TRY(context.streams.find(group.id, *name));
  if (!stream) return stream_not_found();
  return *std::move(stream);
}

}  // namespace logs
