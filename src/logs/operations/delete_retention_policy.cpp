#include "logs/operations/operations.h"

namespace logs {

base::Result<void> delete_retention_policy(Context& context,
                                           const api::logs::DeleteRetentionPolicyRequest& request) {
  const Group group = TRY(existing_group(context, request.log_group_name));
  return context.groups.set_retention(group.id, std::nullopt);
}

}  // namespace logs
