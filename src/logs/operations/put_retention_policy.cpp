#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {

base::Result<void> put_retention_policy(Context& context,
                                        const api::logs::PutRetentionPolicyRequest& request) {
  const int32_t days = request.retention_in_days.value_or(0);
  TRY_VOID(check_retention(days));
  const Group group = TRY(existing_group(context, request.log_group_name));
  return context.groups.set_retention(group.id, days);
}

}  // namespace logs
