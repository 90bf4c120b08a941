// Who may write to a log stream, and number its events.
//
// An agent writes to the streams that it has asked CreateLogStream for, whether they were there
// already or not; that its instance runs a task with such a stream is checked before that call
// comes here. A task's role writes to each stream of its groups, and numbers nothing. The streams
// of sessions are the server's alone. A stream of before writers were kept is every agent's, until
// one numbers its events.
#pragma once

#include <string_view>

#include "base/result.h"
#include "logs/context.h"

namespace logs {

// What the names of sessions' streams begin with; only the server writes to such.
inline constexpr std::string_view session_stream_prefix = "ecs-execute-command-";

// Errors: AccessDeniedException for the name of a session's stream.
base::Result<void> check_stream_is_open(const Writer& writer, std::string_view stream_name);
// Errors: the same; AccessDeniedException for an agent that does not write to the stream, and for a
// task's role that numbers events.
base::Result<void> check_may_write(Context& context, const Stream& stream, bool numbered);
// The agent that has asked for the stream writes to it from now on. Nothing for other callers.
base::Result<void> let_write(Context& context, const Stream& stream);

}  // namespace logs
