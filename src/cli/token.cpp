#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "api/berth.h"
#include "api/json.h"
#include "base/format.h"
#include "cli/access.h"
#include "cli/client.h"
#include "cli/command.h"
#include "cli/installation.h"
#include "cli/instances.h"
#include "cli/output.h"
#include "cli/task_settings.h"
#include "model/ids.h"
#include "net/http.h"

namespace cli {
namespace {

struct TokenCommand {
  std::string data;
  std::string cluster = "default";
  std::string ttl = "1h";
  int32_t uses = 1;
  bool official = false;
  bool json = false;
  std::string id;
  std::string instance;
  bool keep = false;
};

std::string url_for_others(const Credentials& credentials) {
  return credentials.advertised_url.empty() ? credentials.url : credentials.advertised_url;
}

void warn_of_loopback(const Credentials& credentials) {
  const std::string url = url_for_others(credentials);
  if (!url.contains("127.0.0.1") && !url.contains("localhost")) return;
  const auto parsed = net::parse_url(url);
  std::fprintf(stderr,
               "note: %s reaches this machine only; for others start the server with --listen "
               "0.0.0.0:%d --advertise URL\n",
               url.c_str(), parsed ? parsed->port : 7117);
}

// What stands behind "=" is the value up to the end of the line, for who reads it: no comment
// there.
void print_agent_environment(const api::berth::CreateAgentKeyResponse& key,
                             const std::string& url) {
  const auto variable = [](std::string_view name, const std::string& value) {
    print_line(base::format("{}={}", name, value));
  };
  print_line(
      "# For one official ECS agent: /etc/ecs/ecs.config, or the environment of its container.");
  print_line(
      "# The key allows an agent's own calls only, and once it has registered, only as its own "
      "instance.");
  variable("ECS_CLUSTER", key.cluster.value_or(""));
  variable("ECS_BACKEND_HOST", url);
  variable("AWS_DEFAULT_REGION", key.region.value_or(""));
  variable("AWS_ACCESS_KEY_ID", key.access_key_id.value_or(""));
  variable("AWS_SECRET_ACCESS_KEY", key.secret_access_key.value_or(""));
  variable("ECS_EXTERNAL", "true");
  print_line("# Secrets of tasks are kept by this server; S3 and Amazon ECR stay where they are.");
  variable("AWS_ENDPOINT_URL_SSM", url);
  variable("AWS_ENDPOINT_URL_SECRETS_MANAGER", url);
  print_line("# What ecs-init would set: without, no task has a log driver or a role.");
  variable("ECS_AVAILABLE_LOGGING_DRIVERS",
           R"(["json-file","syslog","journald","gelf","fluentd","awslogs","splunk","none"])");
  variable("ECS_ENABLE_TASK_IAM_ROLE", "true");
  variable("ECS_ENABLE_TASK_IAM_ROLE_NETWORK_HOST", "true");
  print_line(
      "# Only on a machine with GPUs and NVIDIA's Container Toolkit; on others no container would "
      "start with it:");
  print_line("# ECS_ENABLE_GPU_SUPPORT=true");
  if (!url.starts_with("https://")) return;
  print_line(
      "# https: the agent checks the certificate of its websockets against \"host:port\", which no "
      "certificate");
  print_line("# is for. Serve on port 443, so that the port is left out, or use http.");
  print_line(
      "# A copy of the server's ca.pem. Docker's daemon has to trust it as well, or the log");
  print_line("# driver awslogs fails: add it to the system's certificates and restart the daemon.");
  variable("SSL_CERT_FILE", "/etc/ecs/berth-ca.pem");
}

base::Result<int> create_official(const TokenCommand& options, const Credentials& credentials) {
  api::berth::CreateAgentKeyRequest request;
  request.cluster = options.cluster;
  if (!options.instance.empty()) request.container_instance = options.instance;
  const auto key = TRY(call<api::berth::CreateAgentKeyResponse>(credentials, api::berth_service(),
                                                                "CreateAgentKey", request));
  if (options.json) {
    print_line(api::print(key));
    return 0;
  }
  print_agent_environment(key, url_for_others(credentials));
  warn_of_loopback(credentials);
  return 0;
}

base::Result<int> create_join_token(const TokenCommand& options, const Credentials& credentials) {
  api::berth::CreateJoinTokenRequest request;
  request.cluster = options.cluster;
  if (!options.instance.empty()) request.container_instance = options.instance;
  request.ttl_seconds =
      std::chrono::floor<std::chrono::seconds>(TRY(parse_duration(options.ttl))).count();
  request.uses = options.uses;
  const auto token = TRY(call<api::berth::CreateJoinTokenResponse>(
      credentials, api::berth_service(), "CreateJoinToken", request));
  if (options.json) {
    print_line(api::print(token));
    return 0;
  }
  print_line(base::format("{}", token.token.value_or("")));
  const std::string ca = credentials.ca_file.empty() ? "" : " --ca ca.pem";
  std::fprintf(
      stderr,
      "good for %d machine(s) of the cluster %s until %s; on the machine, with the token in "
      "a private FILE\n(`--token -` reads it from standard input instead):\n"
      "  berth agent --server %s%s --token-file FILE\n",
      token.uses.value_or(1), token.cluster.value_or("").c_str(),
      base::format_rfc3339(token.expires_at.value_or(base::Time{})).c_str(),
      url_for_others(credentials).c_str(), ca.c_str());
  if (!credentials.ca_file.empty()) {
    std::fprintf(stderr, "ca.pem is a copy of %s\n", credentials.ca_file.c_str());
  }
  warn_of_loopback(credentials);
  return 0;
}

base::Result<int> create(const TokenCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  return options.official ? create_official(options, credentials)
                          : create_join_token(options, credentials);
}

base::Result<void> take_back(const Credentials& credentials, const std::string& id) {
  api::berth::DeleteAgentKeyRequest request;
  request.id = id;
  TRY_VOID(call<api::berth::DeleteAgentKeyResponse>(credentials, api::berth_service(),
                                                    "DeleteAgentKey", request));
  return {};
}

// By its host name, its id, or how that begins. One that is gone can be meant by its id or ARN
// only.
base::Result<std::string> instance_meant(const TokenCommand& options,
                                         const Credentials& credentials) {
  const Instances instances = TRY(read_instances(credentials, options.cluster));
  const auto found = named_instance(instances, options.instance);
  if (found) return (*found)->container_instance_arn.value_or("");
  if (found.error().code != "NotFound") return std::unexpected(found.error());
  return options.instance;
}

// The old keys are looked up before the new one is there, and go only after it: where something
// fails, the instance still has one.
base::Result<int> rotate(TokenCommand options) {
  const Credentials credentials = TRY(find_server(options.data));
  options.instance = TRY(instance_meant(options, credentials));
  api::berth::ListAgentKeysRequest request;
  request.cluster = options.cluster;
  const auto before = TRY(call<api::berth::ListAgentKeysResponse>(credentials, api::berth_service(),
                                                                  "ListAgentKeys", request));
  TRY(options.official ? create_official(options, credentials)
                       : create_join_token(options, credentials));
  for (const auto& key : before.agent_keys) {
    const std::string arn = key.container_instance_arn.value_or("");
    if (arn.empty() || model::short_id(arn) != model::short_id(options.instance)) continue;
    const std::string id = key.access_key_id.value_or("");
    if (!options.keep) TRY_VOID(take_back(credentials, id));
    std::fprintf(stderr,
                 options.keep ? "still good: %s; take it back with `berth token revoke`\n"
                              : "taken back: %s\n",
                 id.c_str());
  }
  return 0;
}

base::Result<int> list_tokens(const TokenCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  const auto all = TRY(call<api::berth::ListAgentKeysResponse>(
      credentials, api::berth_service(), "ListAgentKeys", api::berth::ListAgentKeysRequest{}));
  if (options.json) {
    print_line(api::print(all));
    return 0;
  }
  for (const auto& token : all.join_tokens) {
    const std::string instance = token.container_instance_arn.value_or("");
    print_line(base::format("token  {}  cluster {}  used {} of {}  until {}{}",
                            token.token_id.value_or(""), token.cluster.value_or(""),
                            token.used.value_or(0), token.uses.value_or(0),
                            base::format_rfc3339(token.expires_at.value_or(base::Time{})),
                            instance.empty() ? std::string() : "  for " + instance));
  }
  for (const auto& key : all.agent_keys) {
    print_line(base::format("key    {}  cluster {}  {}", key.access_key_id.value_or(""),
                            key.cluster.value_or(""),
                            key.container_instance_arn.value_or("not registered yet")));
  }
  return 0;
}

base::Result<int> revoke(const TokenCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  TRY_VOID(take_back(credentials, options.id));
  return 0;
}

base::Result<int> rebind(const TokenCommand& options) {
  const Credentials credentials = TRY(find_server(options.data));
  api::berth::RebindAgentKeyRequest request;
  request.id = options.id;
  request.cluster = options.cluster;
  request.container_instance = TRY(instance_meant(options, credentials));
  TRY_VOID(call<api::berth::RebindAgentKeyResponse>(credentials, api::berth_service(),
                                                    "RebindAgentKey", request));
  return 0;
}

using Run = std::function<base::Result<int>(const TokenCommand&)>;

CLI::App* add(CLI::App& parent, const char* name, const char* about, const Run& run, Action& action,
              const std::shared_ptr<TokenCommand>& options) {
  CLI::App* const command = parent.add_subcommand(name, about);
  add_access_option(*command, options->data);
  command->callback([&action, options, run] { action = [options, run] { return run(*options); }; });
  return command;
}

void add_rotate(CLI::App& parent, Action& action, const std::shared_ptr<TokenCommand>& options) {
  CLI::App* const command =
      add(parent, "rotate",
          "Replace the key of a container instance, for one that has leaked: the instance and its "
          "tasks stay. Its agent is without a connection until it has the new one: start `berth "
          "agent` with the token, or give an official agent the key pair.",
          rotate, action, options);
  command
      ->add_option("instance", options->instance,
                   "The container instance: its host name, id, how the id begins, or ARN.")
      ->required();
  command->add_option("--cluster", options->cluster, "Its cluster.")->capture_default_str();
  command->add_option("--ttl", options->ttl, "How long the token is good: 30m, 12h.")
      ->capture_default_str();
  command->add_flag("--official", options->official,
                    "A key pair for the environment of an official ECS agent.");
  command->add_flag("--keep", options->keep,
                    "Leave the present key good, until `berth token revoke`: the agent is not cut "
                    "off meanwhile.");
  command->add_flag("--json", options->json, "As JSON.");
}

void add_rebind(CLI::App& parent, Action& action, const std::shared_ptr<TokenCommand>& options) {
  CLI::App* const command =
      add(parent, "rebind",
          "The machine of a container instance was installed anew and has joined with another key: "
          "that key may take over the instance's GPUs and id. Its former keys are taken back.",
          rebind, action, options);
  command
      ->add_option("instance", options->instance,
                   "The container instance: its host name, id, how the id begins, or ARN.")
      ->required();
  command->add_option("key", options->id, "The new key, as `berth token list` shows it.")
      ->required();
  command->add_option("--cluster", options->cluster, "The instance's cluster.")
      ->capture_default_str();
}

}  // namespace

void add_token(CLI::App& app, Action& action) {
  CLI::App* const command = app.add_subcommand(
      "token", "Keys of agents: what a machine needs to join, who has joined, take it back.");
  command->require_subcommand(1);
  const auto options = std::make_shared<TokenCommand>();  // Shared by the parser and the actions.
  CLI::App* const made =
      add(*command, "create",
          "Make a join token for `berth agent --token-file`, or a key for an official "
          "ECS agent.",
          create, action, options);
  made->add_option("--cluster", options->cluster, "Cluster to join.")->capture_default_str();
  made->add_option("--ttl", options->ttl, "How long the token is good: 30m, 12h.")
      ->capture_default_str();
  made->add_option("--uses", options->uses, "Machines that may join with it.")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  made->add_flag("--official", options->official,
                 "A key pair for the environment of one official ECS agent; it does not expire.");
  made->add_flag("--json", options->json, "As JSON.");
  add_rotate(*command, action, options);
  add_rebind(*command, action, options);
  CLI::App* const listed =
      add(*command, "list", "Show join tokens and agents' keys.", list_tokens, action, options);
  listed->add_flag("--json", options->json, "As JSON.");
  CLI::App* const revoked =
      add(*command, "revoke", "Take a join token or an agent's key back.", revoke, action, options);
  revoked->add_option("id", options->id, "As `berth token list` shows it.")->required();
}

}  // namespace cli
