#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/command.h"
#include "cli/version.h"

namespace cli {
namespace {

constexpr const char* footer = R"text(Examples:
  berth up --emulate p3.8xlarge      a server and one emulated machine with 4 GPUs
  eval "$(berth env)"                point the AWS CLI and SDKs at it
  aws ecs list-container-instances
  berth doctor                       what is missing on this machine

Exit codes: 0 done, 1 failed (the reason is on standard error), 2 wrong command line.)text";

}  // namespace

int run(int argc, char** argv) {
  CLI::App app("Berth runs Amazon ECS GPU workloads on machines you own.", "berth");
  app.footer(footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string(version));
  Action action;
  add_up(app, action);
  add_server(app, action);
  add_agent(app, action);
  add_env(app, action);
  add_doctor(app, action);
  add_version(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto result = action();
  if (result) return *result;
  std::fprintf(stderr, "berth: %s (%s)\n", result.error().message.c_str(),
               result.error().code.c_str());
  return 1;
}

}  // namespace cli
