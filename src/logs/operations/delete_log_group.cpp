#include "logs/operations/operations.h"

namespace logs {

base::Result<void> delete_log_group(Context& context,
                                    const api::logs::DeleteLogGroupRequest& request) {
  const Group group = TRY(existing_group(context, request.log_group_name));
  if (group.deletion_protection_enabled) {
    return base::fail("ValidationException",
                      "The log group has deletion protection: turn it off with "
                      "PutLogGroupDeletionProtection first.");
  }
  return context.groups.remove(group.id);
}

}  // namespace logs
