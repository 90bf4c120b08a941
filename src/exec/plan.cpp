#include "exec/plan.h"

#include <algorithm>

#include "base/format.h"
#include "crypto/crypto.h"
#include "json/utf8.h"
#include "json/value.h"

namespace exec {
namespace {

constexpr size_t token_bytes = 32;
constexpr size_t session_id_bytes = 9;
constexpr size_t longest_logged_command = size_t{64} << 10;

std::unexpected<base::Error> invalid_parameter(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

// The one that is named, or the only one there is.
base::Result<const api::ecs::Container*> container_of(
    const api::ecs::ExecuteCommandRequest& request, const api::ecs::Task& task) {
  const std::string name = request.container.value_or("");
  if (name.empty() && task.containers.size() == 1) return &task.containers.front();
  if (name.empty()) {
    return invalid_parameter("The task has several containers: name one of them in container.");
  }
  const auto found = std::ranges::find_if(
      task.containers, [&](const api::ecs::Container& one) { return one.name == name; });
  if (found == task.containers.end()) {
    return invalid_parameter(base::format("The task has no container named \"{}\".", name));
  }
  return &*found;
}

const api::ecs::ContainerDefinition* definition_of(const std::string& container,
                                                   const Subject& subject) {
  if (!subject.definition) return nullptr;
  const auto& all = subject.definition->container_definitions;
  const auto found = std::ranges::find_if(
      all, [&](const api::ecs::ContainerDefinition& one) { return one.name == container; });
  return found == all.end() ? nullptr : &*found;
}

// Empty: the session is not logged.
std::string log_group_of(const std::string& container, const Subject& subject) {
  if (logs_as_containers_do(subject.configuration)) {
    const auto* const definition = definition_of(container, subject);
    if (definition == nullptr || !definition->log_configuration) return {};
    const api::ecs::LogConfiguration& log = *definition->log_configuration;
    const auto group = log.options.find("awslogs-group");
    const bool named = log.log_driver == api::ecs::LogDriver::Awslogs && group != log.options.end();
    return named ? group->second : std::string();
  }
  const auto& sessions = *subject.configuration->execute_command_configuration;
  const bool overridden = sessions.logging == api::ecs::ExecuteCommandLogging::Override &&
                          sessions.log_configuration.has_value();
  return overridden ? sessions.log_configuration->cloud_watch_log_group_name.value_or("")
                    : std::string();
}

std::string ws_url(const std::string& url) {
  return (url.starts_with("https") ? "wss" : "ws") + url.substr(url.find("://"));
}

std::string client_url(const std::string& url, const std::string& session) {
  return base::format("{}{}{}", ws_url(url), client_path, session);
}

}  // namespace

bool logs_as_containers_do(const std::optional<api::ecs::ClusterConfiguration>& configuration) {
  if (!configuration || !configuration->execute_command_configuration) return true;
  const auto logging = configuration->execute_command_configuration->logging;
  return logging.value_or(api::ecs::ExecuteCommandLogging::Default) ==
         api::ecs::ExecuteCommandLogging::Default;
}

base::Result<Plan> plan_session(const api::ecs::ExecuteCommandRequest& request,
                                const Subject& subject, const std::string& caller,
                                const std::string& url) {
  const api::ecs::Task& task = subject.task;
  if (!request.interactive.value_or(false)) {
    return invalid_parameter("Interactive is the only mode supported currently.");
  }
  if (request.command.value_or("").empty()) return invalid_parameter("command is empty.");
  if (!task.enable_execute_command.value_or(false)) {
    return invalid_parameter(
        "The execute command failed because execute command was not enabled when the task was run "
        "or the execute command agent isn't running. Run the task with enableExecuteCommand.");
  }
  const api::ecs::Container* const container = TRY(container_of(request, task));
  if (container->last_status != "RUNNING" || container->runtime_id.value_or("").empty()) {
    return base::fail(
        "TargetNotConnectedException",
        base::format("The execute command failed because the container {} is not "
                     "running: it is {}.",
                     container->name.value_or(""), container->last_status.value_or("unknown")));
  }
  for (const api::ecs::ManagedAgent& agent : container->managed_agents) {
    if (agent.last_status != "STOPPED") continue;
    return invalid_parameter(base::format(
        "The execute command failed because the execute command agent isn't running: {}",
        agent.reason.value_or("the container is stopping.")));
  }
  Plan plan;
  plan.session.id =
      "ecs-execute-command-" + crypto::to_hex(crypto::random_bytes(session_id_bytes)).substr(0, 17);
  plan.session.client_token = crypto::to_hex(crypto::random_bytes(token_bytes));
  plan.session.agent_token = crypto::to_hex(crypto::random_bytes(token_bytes));
  plan.session.instance = task.container_instance_arn.value_or("");
  const std::string name = container->name.value_or("");
  if (std::string group = log_group_of(name, subject); !group.empty()) {
    plan.session.log = {.group = std::move(group),
                        .beginning = {.session = plan.session.id,
                                      .caller = caller,
                                      .task = task.task_arn.value_or(""),
                                      .container = name,
                                      .command = json::valid_utf8(
                                          request.command->substr(0, longest_logged_command))}};
  }
  plan.order.instance = plan.session.instance;
  plan.order.text = json::print(json::Value::object(
      {{"type", "BerthExecuteCommandMessage"},
       {"message",
        json::Value::object({{"taskArn", task.task_arn.value_or("")},
                             {"containerName", name},
                             {"runtimeId", *container->runtime_id},
                             {"command", *request.command},
                             {"url", base::format("{}{}{}?token={}", ws_url(url), agent_path,
                                                  plan.session.id, plan.session.agent_token)}})}}));
  plan.response.cluster_arn = task.cluster_arn;
  plan.response.task_arn = task.task_arn;
  plan.response.container_arn = container->container_arn;
  plan.response.container_name = container->name;
  plan.response.interactive = true;
  api::ecs::Session& session = plan.response.session.emplace();
  session.session_id = plan.session.id;
  session.stream_url = client_url(url, plan.session.id);
  session.token_value = plan.session.client_token;
  return plan;
}

Resumption plan_resumption(const std::string& session, const std::string& url) {
  Resumption plan;
  plan.client_token = crypto::to_hex(crypto::random_bytes(token_bytes));
  plan.response.session_id = session;
  plan.response.stream_url = client_url(url, session);
  plan.response.token_value = plan.client_token;
  return plan;
}

}  // namespace exec
