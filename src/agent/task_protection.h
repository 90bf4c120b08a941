// The task protection endpoint of containers, $ECS_AGENT_URI/task-protection/v1/state: a task
// guards itself against scale-in and deployments. Values only; the control plane decides.
// Source: ECS Developer Guide, "Amazon ECS task scale-in protection endpoint".
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "agent/api_client.h"
#include "agent/metadata.h"
#include "api/generated/ecs.h"
#include "net/http.h"

namespace agent {

// The control plane has to be asked, by one of its two operations.
struct ProtectionWanted {
  std::string task_arn;
  std::variant<api::ecs::GetTaskProtectionRequest, api::ecs::UpdateTaskProtectionRequest> request;
};
using ProtectionAnswer = std::variant<net::HttpResponse, ProtectionWanted>;

// nullopt: the request is not for this endpoint. `task_arn`: as for answer_metadata().
std::optional<ProtectionAnswer> answer_protection(const MetadataView& view,
                                                  const std::string& task_arn,
                                                  const net::HttpRequest& request);

// What the container hears: {"protection": ..}, {"failure": ..} or {"error": ..}.
net::HttpResponse protection_response(
    const std::string& task_arn, const ApiResult<api::ecs::UpdateTaskProtectionResponse>& answer);

// Blocks.
net::HttpResponse ask_protection(ApiClient& api, const ProtectionWanted& wanted);

}  // namespace agent
