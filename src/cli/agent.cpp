#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "base/format.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/environment.h"
#include "cli/installation.h"
#include "cli/join.h"
#include "cli/local_agent.h"
#include "cli/local_server.h"
#include "cli/task_settings.h"
#include "model/capabilities.h"
#include "model/catalogue.h"
#include "net/http.h"

namespace cli {
namespace {

struct AgentCommand {
  std::vector<std::string> servers;
  std::string data = (default_data_dir() / "agent").string();
  std::string region;
  std::string cluster = "default";
  std::string emulate;
  std::string instance_id;
  std::string instance_type;
  std::string host_address;
  std::string docker_host;
  std::string ca_file;
  TokenSource token;
  bool stop_tasks_on_exit = false;
  TaskSettings tasks;
};

std::string region_of(const AgentCommand& options) {
  for (const std::string& region :
       {options.region, environment("AWS_REGION"), environment("AWS_DEFAULT_REGION")}) {
    if (!region.empty()) return region;
  }
  return "us-east-1";
}

// A join token counts first, whether it is new or the one that the stored key was given for; then
// the environment, then the stored key.
base::Result<void> take_key(const AgentCommand& options, agent::AgentOptions& made) {
  made.access_key_id = environment("AWS_ACCESS_KEY_ID");
  made.secret_access_key = environment("AWS_SECRET_ACCESS_KEY");
  made.session_token = environment("AWS_SESSION_TOKEN");
  made.region = region_of(options);
  made.cluster = options.cluster;
  const bool in_environment = !made.access_key_id.empty() && !made.secret_access_key.empty();
  if (!options.token.text.empty() && options.token.text != "-") {
    base::log_warning(
        "every user of this machine can read the token of --token in the list of processes: use "
        "--token-file FILE, `--token -` for standard input, or BERTH_TOKEN");
  }
  const auto token = read_token(options.token, environment("BERTH_TOKEN"), [] {
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  });
  if (token && token->empty() && in_environment) return {};
  auto joined = join({.servers = options.servers,
                      .token = token.value_or(""),
                      .data_dir = std::filesystem::absolute(options.data),
                      .trust = made.tls});
  if (!token) {
    // Whoever has joined may have removed the file.
    if (!joined) return base::fail(token.error());
    base::log_warning("this machine goes on with the key that it has: {}", token.error().message);
  }
  const JoinedKey key = TRY(std::move(joined));
  made.access_key_id = key.access_key_id;
  made.secret_access_key = key.secret_access_key;
  made.session_token.clear();
  made.region = key.region;
  made.cluster = key.cluster;
  return {};
}

base::Result<agent::AgentOptions> agent_options(const AgentCommand& options) {
  agent::AgentOptions made;
  made.server_urls = options.servers;
  TRY_VOID(apply_task_settings(options.tasks, made));
  if (!options.ca_file.empty()) {
    std::ifstream file(options.ca_file);
    made.tls.ca_pem.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    if (made.tls.ca_pem.empty()) {
      return base::fail("IoError",
                        base::format("--ca {} cannot be read or is empty", options.ca_file));
    }
  }
  TRY_VOID(take_key(options, made));
  return made;
}

// Until a signal says stop: once that it is ready, and each new reason why it is not connected.
void tell_connection(agent::Agent& agent) {
  std::string ready;    // As which instance.
  std::string trouble;  // That was told.
  const auto pause = [&] { return base::Milliseconds(ready.empty() ? 100 : 1000); };
  while (!stop_signal_within(pause())) {
    const agent::AgentStatus status = agent.status();
    const bool connected = status.registered && status.connected;
    if (!connected && status.reason != trouble) {
      base::log_warning("not connected: {}", status.reason);
      trouble = status.reason;
    } else if (connected && !trouble.empty()) {
      base::log_info("connected");
      trouble.clear();
    }
    if (!connected || status.container_instance_arn == ready) continue;
    ready = status.container_instance_arn;
    std::puts(base::format("ready: {}", ready).c_str());
    std::fflush(stdout);
  }
}

base::Result<int> run_agent(const AgentCommand& options) {
  for (const std::string& server : options.servers) TRY(net::parse_url(server));
  if (!options.emulate.empty()) TRY(model::require_instance_type(options.emulate));
  agent::AgentOptions made = TRY(agent_options(options));
  made.instance_id = options.instance_id;
  if (!options.host_address.empty()) {
    made.attributes[std::string(model::attribute_host_address)] = options.host_address;
  }
  const std::unique_ptr<LocalDocker> docker = TRY(local_docker(options.docker_host));
  block_stop_signals();
  base::SystemClock clock;
  FatalFlag fatal = false;
  std::vector<std::unique_ptr<agent::Agent>> agents;
  agents.push_back(TRY(
      start_agent(std::move(made),
                  {std::filesystem::absolute(options.data), options.emulate, options.instance_type},
                  *docker, clock, fatal)));
  tell_connection(*agents.front());
  stop_agents(agents, options.stop_tasks_on_exit);
  return fatal ? 1 : 0;
}

}  // namespace

void add_agent(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "agent",
      "Make this machine a container instance of a server elsewhere. Wants a join token the first "
      "time (`berth token create`), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
  const auto options = std::make_shared<AgentCommand>();  // Shared by the parser and the action.
  command
      ->add_option("--server", options->servers,
                   "URL of the server: http://10.0.0.1:7117; several, with commas, are its "
                   "replicas.")
      ->delimiter(',')
      ->required();
  command->add_option("--cluster", options->cluster, "Cluster to join.")->capture_default_str();
  command->add_option("--region", options->region,
                      "The server's region; by default AWS_REGION, then us-east-1.");
  command->add_option("--data", options->data, "Directory of the agent's journal.")
      ->capture_default_str();
  command->add_option("--emulate", options->emulate,
                      "EC2 instance type to emulate. Without it, the machine itself.");
  command->add_option("--instance-id", options->instance_id,
                      "Id of the machine in its Auto Scaling group, as the program launch of "
                      "--machines exec: has printed it; by default made the first time.");
  command->add_option("--instance-type", options->instance_type,
                      "Attribute ecs.instance-type; by default made of the model of the GPUs.");
  command->add_option(
      "--host-address", options->host_address,
      "Where other machines reach this one, for the tasks of a gang; by default the "
      "address from which it reaches the server.");
  command->add_option("--docker-host", options->docker_host,
                      "unix:///path or tcp://name:port; by default DOCKER_HOST, then "
                      "unix:///var/run/docker.sock.");
  command->add_option("--ca,--ca-file", options->ca_file,
                      "Certificates to trust for https (the server's ca.pem); by default the "
                      "system's.");
  command->add_option(
      "--token-file", options->token.file,
      "File with the join token, which is exchanged for a key of this machine's own, kept in the "
      "directory of --data. It names the cluster. A new one, of `berth token rotate`, replaces "
      "that key. Without it BERTH_TOKEN is read.");
  command
      ->add_option("--token", options->token.text,
                   "The join token itself, which others on this machine then see in the list of "
                   "processes; \"-\" reads it from standard input.")
      ->excludes("--token-file");
  add_task_settings(*command, options->tasks);
  command->add_flag("--stop-tasks-on-exit", options->stop_tasks_on_exit,
                    "Stop all tasks when the agent stops.");
  command->callback([&action, options] { action = [options] { return run_agent(*options); }; });
}

}  // namespace cli
