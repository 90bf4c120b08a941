#include "logs/operations/operations.h"
#include "logs/rules.h"
#include "logs/stream_writers.h"

namespace logs {

base::Result<void> create_log_stream(Context& context,
                                     const api::logs::CreateLogStreamRequest& request) {
  const std::string name = request.log_stream_name.value_or("");
  TRY_VOID(check_stream_name(name, "logStreamName"));
  TRY_VOID(check_stream_is_open(context.writer, name));
  const Group group = TRY(existing_group(context, request.log_group_name));
  if (const auto stream = TRY(context.streams.find(group.id, name))) {
    TRY_VOID(let_write(context, *stream));
    return base::fail("ResourceAlreadyExistsException", "The specified log stream already exists");
  }
  TRY_VOID(context.streams.insert(group.id, name, now_ms(context)));
  const auto stream = TRY(context.streams.find(group.id, name));
  CHECK(stream.has_value());
  return let_write(context, *stream);
}

}  // namespace logs
