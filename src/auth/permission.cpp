#include "auth/permission.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/format.h"

namespace auth {
namespace {

// Sorted. Source: IAM managed policy AmazonEC2ContainerServiceforEC2Role, and what the agent needs
// for task metadata with tags and for awslogs-create-group.
constexpr std::array<std::string_view, 18> agent_operations = {
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetAuthorizationToken",
    "ecr:GetDownloadUrlForLayer",
    "ecs:DeregisterContainerInstance",
    "ecs:DiscoverPollEndpoint",
    "ecs:ListTagsForResource",
    "ecs:Poll",
    "ecs:RegisterContainerInstance",
    "ecs:StartTelemetrySession",
    "ecs:SubmitAttachmentStateChanges",
    "ecs:SubmitContainerStateChange",
    "ecs:SubmitTaskStateChange",
    "ecs:UpdateContainerInstancesState",
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

}  // namespace

base::Result<void> allow(const Caller& caller, const Ask& ask) {
  const auto* agent = std::get_if<AgentAccess>(&caller.access);
  if (agent == nullptr) return {};
  const std::string action = base::format("{}:{}", ask.service, ask.operation);
  if (!std::binary_search(agent_operations.begin(), agent_operations.end(), action)) {
    return denied(caller, action, "an agent's key does not allow this action");
  }
  if (!ask.cluster.empty() && ask.cluster != agent->cluster) {
    return denied(caller, action,
                  base::format("its key is for an agent of the cluster {}", agent->cluster));
  }
  if (!ask.container_instance.empty() && !agent->container_instance.empty() &&
      ask.container_instance != agent->container_instance) {
    return denied(
        caller, action,
        base::format("its key is for the container instance {}", agent->container_instance));
  }
  return {};
}

}  // namespace auth
