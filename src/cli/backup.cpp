#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/archive_progress.h"
#include "cli/command.h"
#include "cli/installation.h"

namespace cli {
namespace {

struct BackupCommand {
  std::string file;
  std::string data = default_data_dir().string();
  bool json = false;
};

base::Result<int> back_up(const BackupCommand& options) {
  base::SystemClock clock;
  const std::filesystem::path dir = std::filesystem::absolute(options.data);
  const Archive made =
      TRY(make_archive(options.file, dir, clock.now(), progress_on_terminal(clock)));
  if (options.json) {
    json::Value value = describe_archive(made);
    value.set("file", options.file);
    std::puts(json::print(value).c_str());
    return 0;
  }
  std::puts(base::format("{} holds {}.\nKeep it as safe as the server itself: the access keys are "
                         "in it.",
                         options.file, list_files(made))
                .c_str());
  return 0;
}

}  // namespace

void add_backup(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "backup", "Copy all that a server keeps into one file, also while it runs.");
  const auto options = std::make_shared<BackupCommand>();  // Shared by the parser and the action.
  command->add_option("FILE", options->file, "The file to make; it must not be there yet.")
      ->required();
  command->add_option("--data", options->data, "The server's data directory.")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Say what was done as JSON.");
  command->callback([&action, options] { action = [options] { return back_up(*options); }; });
}

}  // namespace cli
