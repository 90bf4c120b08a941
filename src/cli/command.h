// What each command's file offers to the command line.
#pragma once

#include <functional>

#include "base/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): the library's own name.
class App;
}

namespace cli {

// What a command does once the command line is read. The value is the exit code.
using Action = std::function<base::Result<int>()>;

// Adds the command and its options to `app`; sets `action` when the command is given. One file
// each.
void add_up(CLI::App& app, Action& action);
void add_server(CLI::App& app, Action& action);
void add_agent(CLI::App& app, Action& action);
void add_env(CLI::App& app, Action& action);
void add_token(CLI::App& app, Action& action);
void add_exec(CLI::App& app, Action& action);
void add_tasks(CLI::App& app, Action& action);
void add_gpus(CLI::App& app, Action& action);
void add_nodes(CLI::App& app, Action& action);
void add_audit(CLI::App& app, Action& action);
void add_doctor(CLI::App& app, Action& action);
void add_backup(CLI::App& app, Action& action);
void add_restore(CLI::App& app, Action& action);
void add_explain(CLI::App& app, Action& action);
void add_replay(CLI::App& app, Action& action);
void add_version(CLI::App& app, Action& action);

}  // namespace cli
