#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "cli/checks.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/local_agent.h"
#include "cli/local_server.h"
#include "cli/output.h"
#include "json/value.h"

namespace cli {
namespace {

struct DoctorCommand {
  std::string data = default_data_dir().string();
  std::string listen = ServerCommand{}.listen;
  std::string docker_host;
  bool json = false;
};

const char* word(CheckState state) {
  switch (state) {
    case CheckState::Ok:
      return "ok";
    case CheckState::Warn:
      return "warn";
    case CheckState::Fail:
      return "fail";
  }
  return "fail";
}

std::vector<Check> all_checks(const DoctorCommand& options) {
  const std::filesystem::path dir = std::filesystem::absolute(options.data);
  const std::string host =
      options.docker_host.empty() ? docker::host_from_environment() : options.docker_host;
  auto client = docker::DockerClient::create(host);
  docker::Result<docker::RuntimeInfo> info =
      client ? (*client)->info()
             : docker::Result<docker::RuntimeInfo>(std::unexpected(client.error()));
  std::vector<Check> checks{check_docker(host, info)};
  for (Check& check : check_gpus(info ? &*info : nullptr)) checks.push_back(std::move(check));
  checks.push_back(check_cgroups());
  checks.push_back(check_clock());
  for (Check& check : check_data_dir(dir)) checks.push_back(std::move(check));
  checks.push_back(check_port(options.listen, dir));
  for (Check& check : check_claims(dir)) checks.push_back(std::move(check));
  return checks;
}

void print_json(const std::vector<Check>& checks, bool healthy) {
  json::Value list = json::Value::array();
  for (const Check& check : checks) {
    list.push(json::Value::object({{"name", check.name},
                                   {"state", word(check.state)},
                                   {"detail", check.detail},
                                   {"todo", check.todo}}));
  }
  json::Value value = json::Value::object({{"ok", healthy}});
  value.set("checks", std::move(list));
  print_line(json::print(value));
}

base::Result<int> examine(const DoctorCommand& options) {
  const std::vector<Check> checks = all_checks(options);
  const bool healthy = std::ranges::none_of(
      checks, [](const Check& check) { return check.state == CheckState::Fail; });
  if (options.json) {
    print_json(checks, healthy);
    return healthy ? 0 : 1;
  }
  for (const Check& check : checks) {
    print_line(base::format("{:<5}{:<16}{}", word(check.state), check.name, check.detail));
    if (!check.todo.empty()) print_line(base::format("{:21}{}", "", check.todo));
  }
  return healthy ? 0 : 1;
}

}  // namespace

void add_doctor(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "doctor",
      "Look at what Berth needs on this machine, and say what to do. Exit code 1 when "
      "something must be done.");
  const auto options = std::make_shared<DoctorCommand>();  // Shared by the parser and the action.
  command->add_option("--data", options->data, "The data directory to look at.")
      ->capture_default_str();
  command->add_option("--listen", options->listen, "The address to look at.")
      ->capture_default_str();
  command->add_option("--docker-host", options->docker_host, "By default DOCKER_HOST.");
  command->add_flag("--json", options->json, "As JSON.");
  command->callback([&action, options] { action = [options] { return examine(*options); }; });
}

}  // namespace cli
