#include "server/execute_command.h"

#include <algorithm>

#include "base/format.h"
#include "crypto/crypto.h"
#include "json/value.h"

namespace server {
namespace {

constexpr size_t token_bytes = 32;
constexpr size_t id_bytes = 9;

std::unexpected<base::Error> invalid(std::string message) {
  return base::fail("InvalidParameterException", std::move(message));
}

// The one that is named, or the only one there is.
base::Result<const api::ecs::Container*> container_of(
    const api::ecs::ExecuteCommandRequest& request, const api::ecs::Task& task) {
  const std::string name = request.container.value_or("");
  if (name.empty() && task.containers.size() == 1) return &task.containers.front();
  if (name.empty()) {
    return invalid("The task has several containers: name one of them in container.");
  }
  const auto found = std::ranges::find_if(
      task.containers, [&](const api::ecs::Container& one) { return one.name == name; });
  if (found == task.containers.end()) {
    return invalid(base::format("The task has no container named \"{}\".", name));
  }
  return &*found;
}

std::string ws_url(const std::string& url) {
  return (url.starts_with("https") ? "wss" : "ws") + url.substr(url.find("://"));
}

std::string client_url(const std::string& url, const std::string& session) {
  return base::format("{}{}{}", ws_url(url), exec_client_path, session);
}

}  // namespace

base::Result<ExecPlan> plan_exec(const api::ecs::ExecuteCommandRequest& request,
                                 const api::ecs::Task& task, const std::string& url) {
  if (!request.interactive.value_or(false)) {
    return invalid("Interactive is the only mode supported currently.");
  }
  if (request.command.value_or("").empty()) return invalid("command is empty.");
  if (!task.enable_execute_command.value_or(false)) {
    return invalid(
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
  ExecPlan plan;
  plan.session.id =
      "ecs-execute-command-" + crypto::to_hex(crypto::random_bytes(id_bytes)).substr(0, 17);
  plan.session.client_token = crypto::to_hex(crypto::random_bytes(token_bytes));
  plan.session.agent_token = crypto::to_hex(crypto::random_bytes(token_bytes));
  plan.order.instance = task.container_instance_arn.value_or("");
  plan.order.text = json::print(json::Value::object(
      {{"type", "BerthExecuteCommandMessage"},
       {"message",
        json::Value::object({{"taskArn", task.task_arn.value_or("")},
                             {"containerName", container->name.value_or("")},
                             {"runtimeId", *container->runtime_id},
                             {"command", *request.command},
                             {"url", base::format("{}{}{}?token={}", ws_url(url), exec_agent_path,
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

ExecResumption plan_resumption(const std::string& session, const std::string& url) {
  ExecResumption plan;
  plan.client_token = crypto::to_hex(crypto::random_bytes(token_bytes));
  plan.response.session_id = session;
  plan.response.stream_url = client_url(url, session);
  plan.response.token_value = plan.client_token;
  return plan;
}

}  // namespace server
