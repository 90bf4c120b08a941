#include "logs/operations/operations.h"

namespace logs {

base::Result<void> delete_log_stream(Context& context,
                                     const api::logs::DeleteLogStreamRequest& request) {
  const Group group = TRY(existing_group(context, request.log_group_name));
  if (group.deletion_protection_enabled) {
    return base::fail("ValidationException",
                      "The log group has deletion protection: turn it off with "
                      "PutLogGroupDeletionProtection first.");
  }
  const Stream stream = TRY(existing_stream(context, group, request.log_stream_name));
  TRY_VOID(context.streams.remove(stream.id));
  return context.groups.add_stored_bytes(group.id, -stream.stored_bytes);
}

}  // namespace logs
