#include "cli/task_lists.h"

#include <algorithm>
#include <optional>

#include "api/generated/ecs.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/names.h"
#include "model/ids.h"

namespace cli {
namespace {

constexpr size_t task_id_digits = 32;
constexpr size_t fewest_digits = 4;

bool is_hexadecimal(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return base::hex_value(c) >= 0 && c == base::lower(c); });
}

base::Result<void> list_tasks(const Credentials& credentials, const std::string& cluster,
                              const std::string& service, api::ecs::DesiredStatus desired,
                              std::vector<std::string>& arns) {
  std::optional<std::string> token;
  do {
    api::ecs::ListTasksRequest request;
    request.cluster = cluster;
    if (!service.empty()) request.service_name = service;
    request.desired_status = desired;
    request.next_token = token;
    const auto page = TRY(
        call<api::ecs::ListTasksResponse>(credentials, api::ecs_service(), "ListTasks", request));
    arns.insert(arns.end(), page.task_arns.begin(), page.task_arns.end());
    token = page.next_token;
  } while (token && !token->empty());
  return {};
}

}  // namespace

bool is_whole_task_name(std::string_view text) {
  if (text.starts_with("arn:")) return text.find(":task/") != std::string_view::npos;
  text.remove_prefix(text.rfind('/') + 1);  // "cluster/id"; npos + 1 is 0.
  return text.size() == task_id_digits && is_hexadecimal(text);
}

bool may_begin_task_id(std::string_view text) {
  return text.size() >= fewest_digits && text.size() < task_id_digits && is_hexadecimal(text);
}

base::Result<std::vector<std::string>> list_task_arns(const Credentials& credentials,
                                                      const std::string& cluster,
                                                      const std::string& service) {
  std::vector<std::string> arns;
  TRY_VOID(list_tasks(credentials, cluster, service, api::ecs::DesiredStatus::Running, arns));
  TRY_VOID(list_tasks(credentials, cluster, service, api::ecs::DesiredStatus::Stopped, arns));
  return arns;
}

base::Result<std::string> named_task(const Credentials& credentials, const std::string& cluster,
                                     const std::string& name) {
  if (!may_begin_task_id(name)) return name;
  const std::vector<std::string> arns = TRY(list_task_arns(credentials, cluster, {}));
  std::vector<Named> tasks;
  for (const std::string& arn : arns) {
    tasks.push_back({.id = std::string(model::short_id(arn)), .other_names = {}});
  }
  return arns[TRY(pick(tasks, name, "task", "berth tasks --all"))];
}

}  // namespace cli
