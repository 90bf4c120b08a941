#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/archive_progress.h"
#include "cli/command.h"
#include "cli/installation.h"

namespace cli {
namespace {

struct RestoreCommand {
  std::string file;
  std::string data = default_data_dir().string();
  bool json = false;
};

base::Result<int> restore(const RestoreCommand& options) {
  base::SystemClock clock;
  const std::filesystem::path dir = std::filesystem::absolute(options.data);
  const Restored restored =
      TRY(restore_archive(options.file, dir, clock.now(), progress_on_terminal(clock)));
  if (options.json) {
    json::Value value = describe_archive(restored.archive);
    value.set("file", options.file);
    value.set("data", dir.string());
    if (!restored.replaced.empty()) value.set("replaced", restored.replaced.string());
    std::puts(json::print(value).c_str());
    return 0;
  }
  std::puts(base::format("{} is as it was at {}: {}.", dir.string(), restored.archive.created_at,
                         list_files(restored.archive))
                .c_str());
  if (!restored.replaced.empty()) {
    std::puts(base::format("What was there before is in {}; remove it when it is not needed.",
                           restored.replaced.string())
                  .c_str());
  }
  return 0;
}

}  // namespace

void add_restore(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "restore", "Put what `berth backup` has made in place of a stopped server's data.");
  const auto options = std::make_shared<RestoreCommand>();  // Shared by the parser and the action.
  command->add_option("FILE", options->file, "The backup.")->required();
  command->add_option("--data", options->data, "The server's data directory; made when missing.")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Say what was done as JSON.");
  command->callback([&action, options] { action = [options] { return restore(*options); }; });
}

}  // namespace cli
