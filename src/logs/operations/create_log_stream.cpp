#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {

base::Result<void> create_log_stream(Context& context,
                                     const api::logs::CreateLogStreamRequest& request) {
  const std::string name = request.log_stream_name.value_or("");
  TRY_VOID(check_stream_name(name, "logStreamName"));
  const Group group = TRY(existing_group(context, request.log_group_name));
  if (TRY(context.streams.find(group.id, name))) {
    return base::fail("ResourceAlreadyExistsException", "The specified log stream already exists");
  }
  return context.streams.insert(group.id, name, now_ms(context));
}

}  // namespace logs
