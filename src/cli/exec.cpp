#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "api/generated/ecs.h"
#include "cli/access.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/exec_session.h"
#include "cli/task_lists.h"

namespace cli {
namespace {

struct ExecCommand {
  std::string data;
  std::string cluster = "default";
  std::string container;
  std::string task;
  std::vector<std::string> command;
  bool tty = false;
  bool no_tty = false;
  bool no_stdin = false;
};

// The words as the far end takes them apart again.
std::string one_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += '\'';
    for (const char c : word) {
      if (c == '\'') {
        line += "'\\''";
      } else {
        line += c;
      }
    }
    line += '\'';
  }
  return line;
}

// Whether the command gets a terminal: on request, or where this end has one to show it on.
bool wants_terminal(const ExecCommand& options) {
  if (options.tty || options.no_tty) return options.tty;
  return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDOUT_FILENO) != 0;
}

base::Result<int> run_exec(const ExecCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  api::ecs::ExecuteCommandRequest request;
  request.cluster = options.cluster;
  request.task = TRY(named_task(credentials, options.cluster, options.task));
  if (!options.container.empty()) request.container = options.container;
  request.command =
      one_line(options.command.empty() ? std::vector<std::string>{"sh"} : options.command);
  request.interactive = true;
  const auto response = TRY(call<api::ecs::ExecuteCommandResponse>(credentials, api::ecs_service(),
                                                                   "ExecuteCommand", request));
  return run_exec_session(credentials, response.session.value_or(api::ecs::Session{}),
                          {.terminal = wants_terminal(options), .input = !options.no_stdin});
}

}  // namespace

void add_exec(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "exec",
      "Run a command in a container of a running task: berth exec TASK -- sh. The task was "
      "run with enableExecuteCommand. Ends with the command's exit code. The command has a "
      "terminal "
      "where this one's input and output are one; otherwise its output and standard error stay "
      "apart and any bytes may be piped through it.");
  const auto options = std::make_shared<ExecCommand>();  // Shared by the parser and the action.
  command->add_option("task", options->task, "Id or ARN of the task, or how its id begins.")
      ->required();
  command->add_option("command", options->command, "The command and its arguments; sh without.");
  command->add_option("--cluster", options->cluster, "The task's cluster.")->capture_default_str();
  command->add_option("--container", options->container,
                      "Its name; not needed where the task has one container.");
  auto* const tty = command->add_flag("-t,--tty", options->tty, "A terminal in any case.");
  command->add_flag("-T,--no-tty", options->no_tty, "No terminal in any case.")->excludes(tty);
  command->add_flag("-n,--no-stdin", options->no_stdin,
                    "Leave standard input alone: the command reads its end at once.");
  add_access_option(*command, options->data);
  command->callback([&action, options] { action = [options] { return run_exec(*options); }; });
}

}  // namespace cli
