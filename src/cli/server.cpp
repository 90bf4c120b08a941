#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/local_server.h"
#include "cli/machines.h"

namespace cli {
namespace {

base::Result<int> serve(const ServerCommand& options) {
  block_stop_signals();
  base::SystemClock clock;
  auto machines = TRY(machine_provider(options));  // A wrong option before anything is made.
  LocalServer local = TRY(start_server(options, clock));
  local.server->use_machines(std::move(machines));
  std::puts(base::format("ready: {}", local.server->url()).c_str());
  std::fflush(stdout);
  serve_until_stop_signal(local, clock);
  base::log_info("stopping; tasks go on");
  local.server->stop();
  return 0;
}

}  // namespace

void add_server(CLI::App& app, Action& action) {
  CLI::App* const command =
      app.add_subcommand("server", "Run the control plane alone; agents join it.");
  const auto options = std::make_shared<ServerCommand>();  // Shared by the parser and the action.
  add_server_options(*command, *options);
  command->callback([&action, options] { action = [options] { return serve(*options); }; });
}

}  // namespace cli
