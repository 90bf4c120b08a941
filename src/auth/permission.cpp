#include "auth/permission.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/format.h"

namespace auth {
namespace {

// Sorted. Source: IAM managed policy AmazonEC2ContainerServiceforEC2Role, and what the agent needs
// for task metadata with tags, for its containers' task protection and for awslogs-create-group.
constexpr std::array<std::string_view, 20> agent_operations = {
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "ecs:DeregisterContainerInstance",
    "ecs:DiscoverPollEndpoint",
    "ecs:GetTaskProtection",
    "ecs:ListTagsForResource",
    "ecs:Poll",
    "ecs:RegisterContainerInstance",
    "ecs:StartTelemetrySession",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
    "ecs:UpdateContainerInstancesState",
    "ecs:UpdateTaskProtection",
    "logs:CreateLogGroup",
    "logs:CreateLogStream",
    "logs:PutLogEvents",
    "sts:GetCallerIdentity",
};
static_assert(std::is_sorted(agent_operations.begin(), agent_operations.end()));

std::unexpected<base::Error> denied(const Caller& caller, std::string_view action,
                                    std::string_view why) {
  return base::fail("AccessDeniedException",
                    base::format("User: {} is not authorized to perform: {} because {}.",
                                 caller.arn, action, why));
}

base::Result<void> allow_agent(const Caller& caller, const AgentAccess& agent,
                               const std::string& action, const Ask& ask) {
  if (!std::binary_search(agent_operations.begin(), agent_operations.end(), action)) {
    return denied(caller, action, "an agent's key does not allow this action");
  }
  if (!ask.cluster.empty() && ask.cluster != agent.cluster) {
    return denied(caller, action,
                  base::format("its key is for an agent of the cluster {}", agent.cluster));
  }
  // A task waits on no instance, and a task definition is of none.
  if (action == "ecs:ListTagsForResource" && !ask.resource.empty() &&
      ask.container_instance.empty()) {
    return denied(caller, action,
                  "its key reads the tags of its own container instance and of the tasks on it");
  }
  if (ask.container_instance.empty() || ask.container_instance == agent.container_instance) {
    return {};
  }
  // Whoever has a key for a new machine must not become one that is there.
  if (agent.container_instance.empty()) {
    return denied(caller, action,
                  "its key has registered no container instance yet: that comes first, without the "
                  "ARN of another one, which an agent keeps in its data directory");
  }
  return denied(caller, action,
                base::format("its key is for the container instance {}", agent.container_instance));
}

// Sorted.
constexpr std::array<std::string_view, 6> task_log_operations = {
    "logs:CreateLogGroup",  "logs:CreateLogStream", "logs:DescribeLogStreams",
    "logs:FilterLogEvents", "logs:GetLogEvents",    "logs:PutLogEvents",
};
constexpr std::array<std::string_view, 3> task_secret_operations = {
    "secretsmanager:GetSecretValue",
    "ssm:GetParameter",
    "ssm:GetParameters",
};
constexpr std::array<std::string_view, 2> task_protection_operations = {
    "ecs:GetTaskProtection",
    "ecs:UpdateTaskProtection",
};
static_assert(std::is_sorted(task_protection_operations.begin(), task_protection_operations.end()));
static_assert(std::is_sorted(task_log_operations.begin(), task_log_operations.end()));
static_assert(std::is_sorted(task_secret_operations.begin(), task_secret_operations.end()));

base::Result<void> allow_task(const Caller& caller, const TaskAccess& task,
                              const std::string& action, const Ask& ask) {
  if (action == "sts:GetCallerIdentity") return {};
  const auto is_in = [&](const auto& operations) {
    return std::binary_search(operations.begin(), operations.end(), action);
  };
  if (is_in(task_protection_operations)) {
    // The operation itself looks at each task that it names.
    if (ask.resource.empty() || ask.resource == task.task) return {};
    return denied(caller, action, base::format("its key is for the task {} alone", task.task));
  }
  const bool logs = is_in(task_log_operations);
  if (!logs && !is_in(task_secret_operations)) {
    return denied(caller, action,
                  "the key of a task's role allows nothing but its log groups, its secrets and its "
                  "own task's protection");
  }
  // Where no secret is named here, the secret store itself looks at each: it knows all their names.
  if (!logs && ask.resource.empty()) return {};
  const auto& named = logs ? task.log_groups : task.secrets;
  if (std::find(named.begin(), named.end(), ask.resource) != named.end()) return {};
  return denied(caller, action,
                base::format("its task's definition does not name {}", ask.resource));
}

}  // namespace

base::Result<void> allow(const Caller& caller, const Ask& ask) {
  if (std::holds_alternative<FullAccess>(caller.access)) return {};
  const std::string action = base::format("{}:{}", ask.service, ask.operation);
  if (const auto* agent = std::get_if<AgentAccess>(&caller.access)) {
    return allow_agent(caller, *agent, action, ask);
  }
  if (const auto* task = std::get_if<TaskAccess>(&caller.access)) {
    return allow_task(caller, *task, action, ask);
  }
  if (action == "berth:JoinCluster") return {};
  return denied(caller, action, "the request is not signed");
}

}  // namespace auth
