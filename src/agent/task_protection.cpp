#include "agent/task_protection.h"

#include <utility>

#include "base/format.h"

namespace agent {
namespace {

constexpr std::string_view prefix = "/api/";
constexpr std::string_view suffix = "/task-protection/v1/state";

net::HttpResponse refusal(int status, const std::string& task_arn, std::string_view code,
                          std::string_view message) {
  json::Value error = json::Value::object({{"Code", code}, {"Message", message}});
  if (!task_arn.empty()) error.set("Arn", task_arn);
  return json_response(status, json::Value::object({{"error", std::move(error)}}));
}

// The ARN of the task that has a container with this id; empty: none that the caller may see.
std::string task_of(const MetadataView& view, const std::string& task_arn,
                    std::string_view metadata_id) {
  for (const auto& [arn, task] : view.core.tasks()) {
    if (!task_arn.empty() && arn != task_arn) continue;
    for (const core::ContainerRecord& container : task.record.containers) {
      if (container.metadata_id == metadata_id) return arn;
    }
  }
  return {};
}

// {"ProtectionEnabled": true, "ExpiresInMinutes": 60}. Errors: InvalidParameterException.
base::Result<api::ecs::UpdateTaskProtectionRequest> parse_update(const std::string& body) {
  const auto refuse_body = [](std::string message) {
    return base::fail("InvalidParameterException", std::move(message));
  };
  const auto value = json::parse(body);
  if (!value || !value->is_object()) {
    return refuse_body(R"(The body must be a JSON object such as {"ProtectionEnabled": true}.)");
  }
  api::ecs::UpdateTaskProtectionRequest request;
  for (const json::Field& field : value->fields()) {
    if (field.name == "ProtectionEnabled") {
      const auto enabled = field.value.as_bool();
      if (!enabled) return refuse_body("ProtectionEnabled must be true or false.");
      request.protection_enabled = *enabled;
    } else if (field.name == "ExpiresInMinutes") {
      const auto minutes = field.value.as_int64();
      if (!minutes || *minutes < INT32_MIN || *minutes > INT32_MAX) {
        return refuse_body("ExpiresInMinutes must be a whole number of minutes.");
      }
      request.expires_in_minutes = static_cast<int32_t>(*minutes);
    } else {
      return refuse_body(base::format(
          "{} is no member here; there are ProtectionEnabled and ExpiresInMinutes.", field.name));
    }
  }
  if (!request.protection_enabled) {
    return refuse_body("ProtectionEnabled is missing; it must be true or false.");
  }
  return request;
}

int status_of(const ApiError& error) {
  switch (error.kind) {
    case ApiError::Kind::Refused:
      return bad_request;
    case ApiError::Kind::Unreachable:
      return 504;
    case ApiError::Kind::Failed:
      return 500;
  }
  return 500;
}

json::Value protection_document(const api::ecs::ProtectedTask& task) {
  json::Value document =
      json::Value::object({{"ProtectionEnabled", task.protection_enabled.value_or(false)},
                           {"TaskArn", task.task_arn.value_or("")}});
  if (task.expiration_date) {
    document.set("ExpirationDate", base::format_rfc3339(*task.expiration_date));
  }
  return json::Value::object({{"protection", std::move(document)}});
}

json::Value failure_document(const api::ecs::Failure& failure) {
  json::Value document = json::Value::object(
      {{"Arn", failure.arn.value_or("")}, {"Reason", failure.reason.value_or("")}});
  if (failure.detail) document.set("Detail", *failure.detail);
  return json::Value::object({{"failure", std::move(document)}});
}

// The two responses have the same members.
ApiResult<api::ecs::UpdateTaskProtectionResponse> call(ApiClient& api,
                                                       const ProtectionWanted& wanted) {
  using Response = api::ecs::UpdateTaskProtectionResponse;
  if (const auto* update = std::get_if<api::ecs::UpdateTaskProtectionRequest>(&wanted.request)) {
    return api.call<Response>(api::ecs_service(), "UpdateTaskProtection", *update);
  }
  return api.call<Response>(api::ecs_service(), "GetTaskProtection",
                            std::get<api::ecs::GetTaskProtectionRequest>(wanted.request));
}

}  // namespace

std::optional<ProtectionAnswer> answer_protection(const MetadataView& view,
                                                  const std::string& task_arn,
                                                  const net::HttpRequest& request) {
  std::string_view path = request.target;
  path = path.substr(0, path.find('?'));
  if (path.size() <= prefix.size() + suffix.size() || !path.starts_with(prefix) ||
      !path.ends_with(suffix)) {
    return std::nullopt;
  }
  const std::string_view id =
      path.substr(prefix.size(), path.size() - prefix.size() - suffix.size());
  const std::string arn = task_of(view, task_arn, id);
  if (arn.empty()) {
    return refusal(404, {}, "ResourceNotFoundException",
                   base::format("Failed to find a task for the request: no container here has the "
                                "endpoint id {}.",
                                id));
  }
  const std::string& cluster = view.core.config().cluster;
  if (request.method == "GET") {
    api::ecs::GetTaskProtectionRequest get;
    get.cluster = cluster;
    get.tasks.push_back(arn);
    return ProtectionWanted{arn, std::move(get)};
  }
  if (request.method != "PUT") {
    return refusal(405, arn, "InvalidParameterException", "Only GET and PUT are answered here.");
  }
  auto update = parse_update(request.body);
  if (!update) return refusal(bad_request, arn, update.error().code, update.error().message);
  update->cluster = cluster;
  update->tasks.push_back(arn);
  return ProtectionWanted{arn, std::move(*update)};
}

net::HttpResponse protection_response(
    const std::string& task_arn, const ApiResult<api::ecs::UpdateTaskProtectionResponse>& answer) {
  if (!answer) {
    return refusal(status_of(answer.error()), task_arn, answer.error().code,
                   answer.error().message);
  }
  if (!answer->protected_tasks.empty()) {
    return json_response(200, protection_document(answer->protected_tasks.front()));
  }
  if (!answer->failures.empty()) {
    return json_response(200, failure_document(answer->failures.front()));
  }
  return refusal(500, task_arn, "ServerException", "The control plane says nothing of this task.");
}

net::HttpResponse ask_protection(ApiClient& api, const ProtectionWanted& wanted) {
  return protection_response(wanted.task_arn, call(api, wanted));
}

}  // namespace agent
