#include "auth/permission.h"
#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {
namespace {

constexpr std::string_view not_valid = "TASK_NOT_VALID";
constexpr size_t most_tasks_a_call = 10;
constexpr int32_t default_minutes = 120;
constexpr int32_t most_minutes = 2880;  // Two days.

api::ecs::ProtectedTask describe_protection(const Step& step, const model::Task& task) {
  api::ecs::ProtectedTask made;
  const bool is_protected = task.protected_until && *task.protected_until > step.now;
  made.task_arn = task.arn.str();
  made.protection_enabled = is_protected;
  if (is_protected) made.expiration_date = task.protected_until;
  return made;
}

// Why the task cannot be protected; empty: it can.
std::string objection_to(const Step& step, const model::Task& task) {
  if (model::service_of(task).empty()) return "The task does not belong to a service.";
  const model::Service* const service = model::find_service(
      step.state(),
      model::service_arn(step.settings.account, task.cluster, model::service_of(task)));
  if (service == nullptr || service->scheduling == api::ecs::SchedulingStrategy::Daemon) {
    return "Only tasks of REPLICA services can be protected.";
  }
  if (task.desired_status == model::TaskStatus::Stopped) return "The task is stopping.";
  if (task.waiting) return "The task waits for capacity: it has nothing to protect yet.";
  return {};
}

// An agent speaks for the tasks of its own instance, a task for itself.
base::Result<void> allow_tasks(const Step& step, std::string_view operation,
                               const model::Cluster& cluster,
                               const std::vector<std::string>& tasks) {
  TRY_VOID(allow(step, operation, cluster.name));
  for (const std::string& text : tasks) {
    const model::Task* const task = find_task(step, cluster.name, text);
    TRY_VOID(auth::allow(step.caller,
                         {.service = "ecs",
                          .operation = operation,
                          .cluster = cluster.name.str(),
                          .container_instance = task ? task->instance.str() : std::string_view(),
                          .resource = task ? task->arn.str() : std::string_view(text)}));
  }
  return {};
}

// Calls `take` with each task that can be protected; a failure entry for each other.
template <class Response, class Take>
void for_each_task(const Step& step, const model::Cluster& cluster,
                   const std::vector<std::string>& tasks, Response& response, Take&& take) {
  response.protected_tasks.set_present();
  response.failures.set_present();
  for (const std::string& text : tasks) {
    const model::Task* const task = find_task(step, cluster.name, text);
    if (task == nullptr) {
      const std::string arn =
          text.starts_with("arn:")
              ? text
              : model::task_arn(step.settings.account, cluster.name, text).str();
      response.failures.push_back(failure(arn, placement::reason_missing));
      continue;
    }
    std::string objection = objection_to(step, *task);
    if (objection.empty()) {
      take(*task);
    } else {
      response.failures.push_back(failure(task->arn.str(), not_valid, std::move(objection)));
    }
  }
}

}  // namespace

Answer<api::ecs::GetTaskProtectionResponse> get_task_protection(
    Step& step, const api::ecs::GetTaskProtectionRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  if (request.tasks.size() > most_tasks_a_call) {
    return invalid_parameter("tasks must name at most 10 of them.");
  }
  TRY_VOID(allow_tasks(step, "GetTaskProtection", *cluster, request.tasks));
  api::ecs::GetTaskProtectionResponse response;
  for_each_task(step, *cluster, request.tasks, response, [&](const model::Task& task) {
    response.protected_tasks.push_back(describe_protection(step, task));
  });
  return response;
}

Answer<api::ecs::UpdateTaskProtectionResponse> update_task_protection(
    Step& step, const api::ecs::UpdateTaskProtectionRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  if (request.tasks.empty() || request.tasks.size() > most_tasks_a_call) {
    return invalid_parameter("tasks must name between 1 and 10 of them.");
  }
  TRY_VOID(allow_tasks(step, "UpdateTaskProtection", *cluster, request.tasks));
  const int32_t minutes = request.expires_in_minutes.value_or(default_minutes);
  if (minutes < 1 || minutes > most_minutes) {
    return invalid_parameter(base::format("expiresInMinutes is {}; it must be between 1 and {}.",
                                          minutes, most_minutes));
  }
  const bool enabled = request.protection_enabled.value_or(false);
  const std::optional<base::Time> until =
      enabled ? std::optional(step.now + std::chrono::minutes(minutes)) : std::nullopt;
  api::ecs::UpdateTaskProtectionResponse response;
  for_each_task(step, *cluster, request.tasks, response, [&](const model::Task& task) {
    step.change(model::TaskProtectionSet{task.arn, until});
    response.protected_tasks.push_back(describe_protection(step, task));
  });
  return response;
}

}  // namespace control::ecs
