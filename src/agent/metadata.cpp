#include "agent/metadata.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/metadata_documents.h"
#include "base/format.h"

namespace agent {
namespace {

constexpr int not_found = 404;

StatsWanted::Of stats_of(const core::Task& task, size_t index) {
  return {task.record.containers[index].runtime_id,
          core::gpu_access(task.payload, task.payload.containers[index]).uuids};
}

MetadataAnswer stats_of_task(const core::Task& task) {
  StatsWanted wanted{.containers = {}, .as_map = true};
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    const core::ContainerRecord& container = task.record.containers[i];
    if (container.status == core::ContainerStatus::Running) {
      wanted.containers.push_back(stats_of(task, i));
    }
  }
  return wanted;
}

// The official agent writes a bare string.
net::HttpResponse bare_refusal(int status, const std::string& why) {
  return json_response(status, json::Value(why));
}

MetadataAnswer associations(const Found& found, std::string_view rest) {
  const core::GpuAccess access =
      core::gpu_access(found.task->payload, found.task->payload.containers[found.index]);
  if (rest == "gpu") {
    return json_response(200,
                         json::Value::object({{"Associations", json::Value::array(access.uuids)}}));
  }
  if (rest.starts_with("gpu/") &&
      std::ranges::find(access.uuids, rest.substr(4)) != access.uuids.end()) {
    return net::HttpResponse{
        .status = 200, .headers = {{"Content-Type", "text/plain"}}, .body = {}};
  }
  return bare_refusal(not_found, "no such association of this container");
}

MetadataAnswer answer_of_container(const MetadataView& view, const Found& found,
                                   std::string_view rest) {
  if (rest.empty()) return json_response(200, container_document(view, found));
  if (rest == "task") return json_response(200, task_document(view, *found.task));
  if (rest == "taskWithTags") {
    return TagsWanted{task_document(view, *found.task), found.task->record.arn,
                      view.core.container_instance_arn()};
  }
  if (rest == "stats") {
    StatsWanted wanted{.containers = {}, .as_map = false};
    wanted.containers.push_back(stats_of(*found.task, found.index));
    return wanted;
  }
  if (rest == "task/stats") return stats_of_task(*found.task);
  constexpr std::string_view of_associations = "associations/";
  if (rest.starts_with(of_associations)) {
    return associations(found, rest.substr(of_associations.size()));
  }
  return bare_refusal(not_found, base::format("404 page not found: {}", rest));
}

// By the id that stands in the container's own variables.
std::optional<Found> find_container(const MetadataView& view, const std::string& task_arn,
                                    std::string_view metadata_id) {
  for (const auto& [arn, task] : view.core.tasks()) {
    if (!task_arn.empty() && arn != task_arn) continue;
    for (size_t i = 0; i < task.record.containers.size(); ++i) {
      if (task.record.containers[i].metadata_id == metadata_id) return Found{&task, i};
    }
  }
  return std::nullopt;
}

// Version 2 knows its caller by the network that the request came from.
MetadataAnswer answer_v2(const MetadataView& view, const std::string& task_arn,
                         std::string_view rest) {
  const auto found = view.core.tasks().find(task_arn);
  if (found == view.core.tasks().end()) {
    return bare_refusal(not_found, "version 2 answers in networks of tasks only: use version 4");
  }
  const core::Task& task = found->second;
  const bool stats = rest.starts_with("stats");
  const std::string_view behind = rest.substr(std::min(rest.size(), rest.find('/')));
  if (behind.size() <= 1) {
    if (stats) return stats_of_task(task);
    return json_response(200, task_document(view, task));
  }
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    if (task.record.containers[i].runtime_id != behind.substr(1)) continue;
    if (!stats) return json_response(200, container_document(view, {&task, i}));
    return StatsWanted{.containers = {stats_of(task, i)}, .as_map = false};
  }
  return bare_refusal(not_found, "the task has no such container");
}

net::HttpResponse credential_error(int status, std::string_view code, std::string_view message) {
  return json_response(
      status,
      json::Value::object({{"code", code}, {"message", message}, {"HTTPErrorCode", status}}));
}

// In a task's network only its own keys are to be had.
bool is_of_task(const MetadataView& view, const std::string& task_arn, std::string_view id) {
  if (task_arn.empty()) return true;
  const auto task = view.core.tasks().find(task_arn);
  return task != view.core.tasks().end() && task->second.payload.role_credentials &&
         task->second.payload.role_credentials->credentials_id == id;
}

// A task whose keys are on their way, after a restart of the agent.
bool is_expected(const MetadataView& view, std::string_view id) {
  return std::ranges::any_of(view.core.tasks(), [&](const auto& entry) {
    const auto& role = entry.second.payload.role_credentials;
    return role && role->credentials_id == id;
  });
}

net::HttpResponse answer_credentials(const MetadataView& view, const std::string& task_arn,
                                     std::string_view id) {
  if (id.empty()) {
    return credential_error(bad_request, "NoIdInRequest",
                            "CredentialsV2Request: No Credential ID "
                            "in the request");
  }
  const acs::IAMRoleCredentials* const keys =
      is_of_task(view, task_arn, id) ? view.credentials.find_task_role(id) : nullptr;
  if (keys == nullptr && is_of_task(view, task_arn, id) && is_expected(view, id)) {
    return credential_error(503, "CredentialsUninitialized",
                            "CredentialsV2Request: Credentials uninitialized for ID");
  }
  if (keys == nullptr) {
    return credential_error(bad_request, "InvalidIdInRequest",
                            "CredentialsV2Request: ID not found");
  }
  return json_response(200, json::Value::object({{"RoleArn", keys->role_arn},
                                                 {"AccessKeyId", keys->access_key_id},
                                                 {"SecretAccessKey", keys->secret_access_key},
                                                 {"Token", keys->session_token},
                                                 {"Expiration", keys->expiration}}));
}

}  // namespace

MetadataAnswer answer_metadata(const MetadataView& view, const std::string& task_arn,
                               std::string_view target) {
  const size_t mark = target.find('?');
  const std::string_view query =
      mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  std::string_view path = target.substr(0, mark);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto behind = [&](std::string_view prefix) -> std::optional<std::string_view> {
    if (!path.starts_with(prefix)) return std::nullopt;
    return path.substr(prefix.size());
  };
  if (const auto id = behind("/v2/credentials/")) return answer_credentials(view, task_arn, *id);
  if (path == "/v1/credentials") {
    return answer_credentials(view, task_arn, query.starts_with("id=") ? query.substr(3) : "");
  }
  for (const std::string_view version : {"/v4/", "/v3/"}) {
    const auto rest = behind(version);
    if (!rest) continue;
    const std::string_view id = rest->substr(0, rest->find('/'));
    const auto found = find_container(view, task_arn, id);
    if (!found) {
      return bare_refusal(not_found,
                          base::format("V{} container metadata handler: unable to get "
                                       "container ID from request: unable to get docker ID "
                                       "from endpoint ID: {}",
                                       version[2], id));
    }
    return answer_of_container(view, *found, rest->substr(std::min(rest->size(), id.size() + 1)));
  }
  if (path.starts_with("/v2/metadata") || path.starts_with("/v2/stats")) {
    return answer_v2(view, task_arn, path.substr(4));
  }
  return bare_refusal(not_found, "404 page not found");
}

json::Value stats_document(const docker::ContainerStats& stats,
                           const std::vector<GpuFigures>& gpus) {
  json::Value document = stats.raw.is_object() ? stats.raw : json::Value::object();
  if (gpus.empty()) return document;
  json::Value list = json::Value::array();
  for (const GpuFigures& gpu : gpus) {
    list.push(json::Value::object({{"uuid", gpu.uuid},
                                   {"utilization_percent", gpu.use.utilisation_percent},
                                   {"memory_used_mib", gpu.use.used_mib},
                                   {"memory_total_mib", gpu.use.total_mib}}));
  }
  document.set("gpu_stats", std::move(list));
  return document;
}

net::HttpResponse json_response(int status, const json::Value& body) {
  return {.status = status,
          .headers = {{"Content-Type", "application/json"}},
          .body = json::print(body)};
}

}  // namespace agent
