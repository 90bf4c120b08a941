// ExecuteCommand: who may run what where, and the session that it becomes.
#pragma once

#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "api/generated/ssm.h"
#include "base/result.h"
#include "exec/relay.h"

namespace exec {

// What the agent is told on its control stream; other agents ignore it.
struct Order {
  std::string instance;  // ARN.
  std::string text;      // One frame: "BerthExecuteCommandMessage".
};

struct Plan {
  Ticket session;
  Order order;
  api::ecs::ExecuteCommandResponse response;
};

// Whether the container's own logConfiguration says where its sessions are logged.
// Source: ECS API reference, ExecuteCommandConfiguration, logging.
bool logs_as_containers_do(const std::optional<api::ecs::ClusterConfiguration>& configuration);

struct Subject {
  api::ecs::Task task;                                               // As DescribeTasks shows it.
  std::optional<api::ecs::ClusterConfiguration> configuration = {};  // Of its cluster.
  // Of the task; needed where logs_as_containers_do().
  std::optional<api::ecs::TaskDefinition> definition = {};
};

// `caller` is the ARN of whose request it is, `url` where clients and agents reach this server.
// Errors: InvalidParameterException, ClientException, TargetNotConnectedException: in ECS's words.
base::Result<Plan> plan_session(const api::ecs::ExecuteCommandRequest& request,
                                const Subject& subject, const std::string& caller,
                                const std::string& url);

// What a client gets that asks to come back to a session (ResumeSession). Source: the plugin, which
// takes an answer without a token for a session that is over.
struct Resumption {
  std::string client_token;
  api::ssm::ResumeSessionResponse response;
};
Resumption plan_resumption(const std::string& session, const std::string& url);

}  // namespace exec
