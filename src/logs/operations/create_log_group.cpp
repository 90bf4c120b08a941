#include "base/format.h"
#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {

base::Result<void> create_log_group(Context& context,
                                    const api::logs::CreateLogGroupRequest& request) {
  using Class = api::logs::LogGroupClass;
  const std::string name = request.log_group_name.value_or("");
  TRY_VOID(check_group_name(name, "logGroupName"));
  if (name.starts_with("aws/") || name.starts_with("AWS/")) {
    return invalid_parameter("Log groups starting with AWS/ are reserved for AWS.");
  }
  TRY_VOID(check_tags(request.tags));
  if (request.kms_key_id) {
    return invalid_parameter(
        "kmsKeyId is not supported here: leave it out; the events lie unencrypted in the server's "
        "data directory.");
  }
  const Class log_group_class = request.log_group_class.value_or(Class::Standard);
  if (log_group_class != Class::Standard && log_group_class != Class::InfrequentAccess) {
    return invalid_parameter(
        base::format("logGroupClass {} is not supported here: use STANDARD or INFREQUENT_ACCESS.",
                     api::to_string(log_group_class)));
  }
  if (TRY(context.groups.find(name))) {
    return base::fail("ResourceAlreadyExistsException", "The specified log group already exists");
  }

  const Group group{
      .name = name,
      .creation_time = now_ms(context),
      .log_group_class = std::string(api::to_string(log_group_class)),
      .deletion_protection_enabled = request.deletion_protection_enabled.value_or(false)};
  return context.groups.insert(group, request.tags);
}

}  // namespace logs
