// This end of a session of `berth exec`: the terminal or the pipes that it was started with.
#pragma once

#include "api/generated/ecs.h"
#include "base/result.h"
#include "cli/installation.h"

namespace cli {

struct ExecSessionOptions {
  bool terminal = true;  // Of the command. This end's, where it is one, then hands on each key.
  bool input = true;     // Otherwise the command reads the end of its input at once.
};

// Until the command has ended; the value is its exit code. A connection that breaks is made anew.
// One call a process: it ignores SIGPIPE, and takes the signals that would end the process.
// Errors: the connection's; "SessionEnded" with the reason why there is no exit code.
base::Result<int> run_exec_session(const Credentials& credentials, const api::ecs::Session& session,
                                   const ExecSessionOptions& options);

}  // namespace cli
