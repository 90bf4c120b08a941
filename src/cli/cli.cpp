#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/version.h"

namespace cli {
namespace {

constexpr const char* examples = R"text(Examples:
  berth up --emulate p3.8xlarge      a server and one emulated machine with 4 GPUs
  eval "$(berth env)"                point the AWS CLI and SDKs at it
  aws ecs list-container-instances
  berth tasks                        what runs, what waits, and why
  berth nodes                        which machines there are, and what is free
  berth explain train                why the task would go where, or nowhere
  berth token create                 what another machine needs to join
  berth audit --since 1h             who has changed what
  berth doctor                       what is missing on this machine

)text";
constexpr const char* exit_codes =
    "Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong command line.";

// Says of the first word that no command takes where the right ones are listed.
std::string unexpected(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const std::vector<std::string> left = app.remaining(true);
  const auto first = std::ranges::find_if(
      words, [&](const std::string& word) { return std::ranges::find(left, word) != left.end(); });
  const std::string word = first == words.end() ? std::string() : *first;
  const std::string& name = command->get_name();
  const bool is_option = word.starts_with('-');
  std::string text =
      base::format("berth: `{}` has no {} {}", name, is_option ? "option" : "argument", word);
  if (command == &app && !is_option) text = base::format("berth: there is no command {}", word);
  if (name == "exec") text += "; the command for the container stands behind --";
  return text + base::format("\nRun `berth{}{} --help` for what there is.\n",
                             command == &app ? "" : " ", command == &app ? "" : name);
}

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("Berth runs Amazon ECS GPU workloads on machines you own.", "berth");
  app.footer(exit_codes);  // Of the commands, too: each takes what stands here when it is added.
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(version));
  Action action;
  add_up(app, action);
  add_server(app, action);
  add_agent(app, action);
  add_env(app, action);
  add_token(app, action);
  add_exec(app, action);
  add_tasks(app, action);
  add_gpus(app, action);
  add_nodes(app, action);
  add_audit(app, action);
  add_doctor(app, action);
  add_backup(app, action);
  add_restore(app, action);
  add_explain(app, action);
  add_replay(app, action);
  add_version(app, action);
  app.footer(std::string(examples) + exit_codes);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // A word that is no command is told as a command that is missing.
    const auto kind = static_cast<CLI::ExitCodes>(error.get_exit_code());
    const bool about_words =
        kind == CLI::ExitCodes::ExtrasError || kind == CLI::ExitCodes::RequiredError;
    if (!about_words || app.remaining(true).empty()) return app.exit(error) == 0 ? 0 : 2;
    std::fputs(unexpected(app, {argv + 1, argv + argc}).c_str(), stderr);
    return 2;
  }
  const auto result = action();
  if (result) return *result;
  std::fprintf(stderr, "berth: %s (%s)\n",
               base::printable(result.error().message, std::string_view::npos, "\n").c_str(),
               result.error().code.c_str());
  return 1;
}

}  // namespace cli
