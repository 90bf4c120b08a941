#include "logs/operations/operations.h"

namespace logs {

base::Result<void> put_log_group_deletion_protection(
    Context& context, const api::logs::PutLogGroupDeletionProtectionRequest& request) {
  const Group group =
      TRY(existing_group(context, std::nullopt, request.log_group_identifier.value_or("")));
  return context.groups.set_deletion_protection(
      group.id, request.deletion_protection_enabled.value_or(false));
}

}  // namespace logs
