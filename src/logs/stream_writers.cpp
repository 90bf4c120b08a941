#include "logs/stream_writers.h"

#include "base/format.h"

namespace logs {
namespace {

std::unexpected<base::Error> may_not_write(std::string why) {
  return base::fail("AccessDeniedException", std::move(why));
}

}  // namespace

base::Result<void> check_stream_is_open(const Writer& writer, std::string_view stream_name) {
  if (writer.kind == Writer::Kind::Server || !stream_name.starts_with(session_stream_prefix)) {
    return {};
  }
  return may_not_write(base::format(
      "The log stream {} has the name of a session of ExecuteCommand: the server alone writes to "
      "those whose names begin with {}. Use another name.",
      stream_name, session_stream_prefix));
}

base::Result<void> check_may_write(Context& context, const Stream& stream, bool numbered) {
  TRY_VOID(check_stream_is_open(context.writer, stream.name));
  switch (context.writer.kind) {
    case Writer::Kind::Server:
    case Writer::Kind::Account:
      return {};
    case Writer::Kind::TaskRole:
      if (!numbered) return {};
      return may_not_write(
          "berthPosition is for the agent whose task writes to the log stream: leave it out.");
    case Writer::Kind::Agent:
      break;
  }
  const std::string& instance = context.writer.instance;
  if (TRY(context.streams.is_writer(stream.id, instance))) return {};
  if (TRY(context.streams.is_writer(stream.id, any_writer))) {
    return numbered ? context.streams.set_writer(stream.id, instance) : base::Result<void>();
  }
  return may_not_write(
      base::format("The container instance {} does not write to the log stream {}: an agent asks "
                   "CreateLogStream first, and runs a task whose definition names that stream.",
                   instance, stream.name));
}

base::Result<void> let_write(Context& context, const Stream& stream) {
  if (context.writer.kind != Writer::Kind::Agent) return {};
  return context.streams.add_writer(stream.id, context.writer.instance);
}

}  // namespace logs
