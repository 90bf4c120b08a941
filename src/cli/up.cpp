#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/local_agent.h"
#include "cli/local_server.h"
#include "cli/machines.h"
#include "cli/task_settings.h"
#include "model/catalogue.h"

namespace cli {
namespace {

struct UpCommand {
  ServerCommand server;
  std::vector<std::string> emulate;
  std::string instance_type;
  std::string docker_host;
  bool stop_tasks_on_exit = false;
  TaskSettings tasks;
};

using Agents = std::vector<std::unique_ptr<agent::Agent>>;

// Each emulated type is a container instance of its own; without one it is the machine itself,
// unless emulated machines come from Auto Scaling groups.
base::Result<std::vector<MachineOptions>> machines(const UpCommand& options) {
  for (const std::string& type : options.emulate) TRY(model::require_instance_type(type));
  const std::filesystem::path dir = std::filesystem::absolute(options.server.data) / "agents";
  if (options.emulate.empty() && options.server.machines == emulated_machines_option) {
    return std::vector<MachineOptions>();
  }
  if (options.emulate.empty()) {
    return std::vector{MachineOptions{dir / "0-machine", {}, options.instance_type}};
  }
  if (!options.instance_type.empty()) {
    return base::fail("InvalidParameterException",
                      "--instance-type names the type of the machine itself, and with --emulate "
                      "there is none: leave one of the two out");
  }
  std::vector<MachineOptions> made;
  for (const std::string& type : options.emulate) {
    made.push_back({dir / base::format("{}-{}", made.size(), type), type, {}});
  }
  return made;
}

base::Result<Agents> start_agents(const UpCommand& options, const LocalServer& local,
                                  LocalDocker& docker, base::Clock& clock, FatalFlag& fatal) {
  Agents agents;
  for (const MachineOptions& machine : TRY(machines(options))) {
    agent::AgentOptions made;
    made.server_urls = {local.credentials.url};
    made.advertised_url = local.credentials.advertised_url;
    made.tls = local.trust;
    made.access_key_id = local.credentials.access_key_id;
    made.secret_access_key = local.credentials.secret_access_key;
    made.region = local.credentials.region;
    made.cluster = options.server.cluster;
    TRY_VOID(apply_task_settings(options.tasks, made));
    agents.push_back(TRY(start_agent(std::move(made), machine, docker, clock, fatal)));
  }
  return agents;
}

// Waits until every agent is registered and connected; not for long when Docker is missing, since
// that may stay so. True: a stop signal came meanwhile.
bool wait_for_agents(const Agents& agents, bool docker_answers, base::Clock& clock) {
  const auto deadline = clock.monotonic() + std::chrono::seconds(docker_answers ? 20 : 5);
  const auto up = [](const auto& agent) {
    const agent::AgentStatus status = agent->status();
    return status.registered && status.connected && status.docker_ready;
  };
  while (!std::ranges::all_of(agents, up) && clock.monotonic() < deadline) {
    if (stop_signal_within(base::Milliseconds(20))) return true;
  }
  for (const auto& agent : agents) {
    const agent::AgentStatus status = agent->status();
    if (up(agent)) continue;
    base::log_warning("container instance {} is not ready for tasks yet and goes on trying: {}",
                      agent->instance_id(),
                      status.reason.empty() ? "it has not registered yet" : status.reason);
  }
  return false;
}

base::Result<int> run_up(const UpCommand& options) {
  TRY(machines(options));  // A wrong option is told before anything is made.
  if (options.server.machines != emulated_machines_option) TRY(machine_provider(options.server));
  const std::unique_ptr<LocalDocker> docker = TRY(local_docker(options.docker_host));
  block_stop_signals();
  base::SystemClock clock;
  FatalFlag fatal = false;
  LocalServer local = TRY(start_server(options.server, clock));
  const auto info = docker->client->info();
  if (!info) base::log_warning("no task can run yet: {}", info.error().message);
  local.server->use_machines(TRY(machine_provider({.server = options.server,
                                                   .tasks = options.tasks,
                                                   .local = local,
                                                   .docker = *docker,
                                                   .clock = clock,
                                                   .fatal = fatal})));
  Agents agents = TRY(start_agents(options, local, *docker, clock, fatal));
  if (!wait_for_agents(agents, info.has_value(), clock)) {
    std::puts(base::format("ready: {}", local.server->url()).c_str());
    std::fflush(stdout);
    serve_until_stop_signal(local, clock);
  }
  stop_agents(agents, options.stop_tasks_on_exit);
  local.server->stop();
  return fatal ? 1 : 0;
}

}  // namespace

void add_up(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "up", "Run a server and the agents of this machine, until Ctrl-C or SIGTERM.");
  const auto options = std::make_shared<UpCommand>();  // Shared by the parser and the action.
  add_server_options(*command, options->server);
  command
      ->add_option("--emulate", options->emulate,
                   "EC2 instance types to emulate, each a container instance of its own: "
                   "p3.2xlarge,p3.2xlarge,c5.2xlarge. Without it, the machine itself.")
      ->delimiter(',');
  command->add_option("--instance-type", options->instance_type,
                      "Attribute ecs.instance-type of the machine itself; by default made of the "
                      "model of its GPUs.");
  command->add_option("--docker-host", options->docker_host,
                      "unix:///path or tcp://name:port; by default DOCKER_HOST, then "
                      "unix:///var/run/docker.sock.");
  add_task_settings(*command, options->tasks);
  command->add_flag("--stop-tasks-on-exit", options->stop_tasks_on_exit,
                    "Stop all tasks when Berth stops. By default containers go on, and the next "
                    "start takes them over.");
  command->callback([&action, options] { action = [options] { return run_up(*options); }; });
}

}  // namespace cli
