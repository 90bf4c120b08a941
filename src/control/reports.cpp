#include "control/reports.h"

#include <algorithm>

#include "base/format.h"
#include "control/errors.h"
#include "control/lookup.h"

namespace control {
namespace {

constexpr size_t most_reason = 1024;

// The task as the change will leave it; starts as the task is.
model::TaskReported unchanged(const model::Task& task) {
  return {.arn = task.arn,
          .last_status = task.last_status,
          .containers = task.containers,
          .stop_code = task.stop_code,
          .stopped_reason = task.stopped_reason,
          .started_at = task.started_at,
          .stopping_at = task.stopping_at,
          .stopped_at = task.stopped_at,
          .pull_started_at = task.pull_started_at,
          .pull_stopped_at = task.pull_stopped_at,
          .execution_stopped_at = task.execution_stopped_at,
          .gpu_releases = {}};
}

std::string bounded(const std::optional<std::string>& text) {
  return text.value_or("").substr(0, most_reason);
}

// Reports carry NONE, CREATED and RESOURCES_PROVISIONED too; those say nothing new to a client.
std::optional<model::TaskStatus> status_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const auto status = model::parse_task_status(*text);
  if (status == model::TaskStatus::Pending || status == model::TaskStatus::Running ||
      status == model::TaskStatus::Stopped) {
    return status;
  }
  return std::nullopt;
}

template <class Report>
void merge_container(const Report& report, model::TaskContainer& container) {
  if (const auto status = status_of(report.status)) {
    container.last_status = std::max(container.last_status, *status);
  }
  if (report.runtime_id) container.runtime_id = *report.runtime_id;
  if (report.exit_code) container.exit_code = report.exit_code;
  if (report.reason && !report.reason->empty()) container.reason = bounded(report.reason);
  if (!report.network_bindings.empty()) container.network_bindings = report.network_bindings;
  if constexpr (requires { report.image_digest; }) {
    if (report.image_digest) container.image_digest = *report.image_digest;
  }
}

template <class Containers>
auto* container_named(Containers& containers, const std::optional<std::string>& name) {
  const auto found = std::ranges::find(containers, name.value_or(""), &model::TaskContainer::name);
  return found == containers.end() ? nullptr : &*found;
}

bool is_essential(const model::TaskDefinition* definition, const std::string& container) {
  if (definition == nullptr) return true;
  const auto& all = definition->definition.container_definitions;
  const auto found =
      std::ranges::find_if(all, [&](const auto& one) { return one.name == container; });
  return found == all.end() || found->essential.value_or(true);
}

// Why a task stopped that nobody asked to stop. Source: ECS Developer Guide, "Stopped tasks error
// codes".
void explain_stop(const Step& step, const model::Task& task,
                  const api::ecs::SubmitTaskStateChangeRequest& report,
                  model::TaskReported& change) {
  if (!change.stop_code.empty()) return;
  const bool ran = task.started_at.has_value();
  const std::string reason = bounded(report.reason);
  if (!ran && (!reason.empty() ||
               std::ranges::any_of(change.containers, [](const model::TaskContainer& container) {
                 return !container.exit_code && !container.reason.empty();
               }))) {
    change.stop_code = "TaskFailedToStart";
    change.stopped_reason = reason.empty() ? "Task failed to start" : reason;
    return;
  }
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), task.definition);
  const bool essential_exited =
      std::ranges::any_of(change.containers, [&](const model::TaskContainer& container) {
        return container.last_status == model::TaskStatus::Stopped &&
               is_essential(definition, container.name);
      });
  change.stop_code = "EssentialContainerExited";
  change.stopped_reason = !reason.empty()    ? reason
                          : essential_exited ? "Essential container in task exited"
                                             : "All containers in task exited";
}

bool is_berth_agent(const Step& step, const model::Task& task) {
  const auto* const instance = model::find_instance(step.state(), task.instance);
  return instance != nullptr && instance->attributes.contains("berth.agent");
}

// An official agent's STOPPED must do as proof; Berth's own says of each GPU whether it is empty.
void settle_gpus(const Step& step, const model::Task& task,
                 const api::ecs::SubmitTaskStateChangeRequest& report,
                 model::TaskReported& change) {
  if (!is_berth_agent(step, task)) return;
  for (const model::GpuAssignment& held : task.held.gpus) {
    const auto found = std::ranges::find_if(
        report.gpu_release, [&](const auto& release) { return release.gpu_id == held.gpu; });
    if (found != report.gpu_release.end() && found->empty.value_or(false)) continue;
    const std::string reason =
        found == report.gpu_release.end()
            ? std::string("the agent reported the task STOPPED without proof that the GPU is empty")
            : bounded(found->reason);
    change.gpu_releases.push_back({held.gpu, false, reason});
  }
}

void stop_containers(model::TaskReported& change) {
  for (model::TaskContainer& container : change.containers) {
    container.last_status = model::TaskStatus::Stopped;
  }
}

void take_times(const api::ecs::SubmitTaskStateChangeRequest& report,
                model::TaskReported& change) {
  if (report.pull_started_at) change.pull_started_at = report.pull_started_at;
  if (report.pull_stopped_at) change.pull_stopped_at = report.pull_stopped_at;
  if (report.execution_stopped_at) change.execution_stopped_at = report.execution_stopped_at;
}

bool says_something_new(const model::Task& task, const model::TaskReported& change) {
  if (task.last_status != change.last_status) return true;
  if (task.pull_started_at != change.pull_started_at ||
      task.pull_stopped_at != change.pull_stopped_at ||
      task.execution_stopped_at != change.execution_stopped_at) {
    return true;
  }
  return task.containers != change.containers;
}

}  // namespace

base::Result<void> take_task_report(Step& step, const model::ClusterName& cluster,
                                    const api::ecs::SubmitTaskStateChangeRequest& report) {
  const model::Task* const task = find_task(step, cluster, report.task.value_or(""));
  if (task == nullptr || task->last_status == model::TaskStatus::Stopped) return {};
  TRY_VOID(allow(step, "SubmitTaskStateChange", cluster, task->instance.str()));
  const auto status = report.status ? model::parse_task_status(*report.status) : std::nullopt;
  if (report.status && !status) {
    return invalid_parameter(
        base::format("status is \"{}\"; it must be PENDING, RUNNING or STOPPED.", *report.status));
  }
  model::TaskReported change = unchanged(*task);
  for (const api::ecs::ContainerStateChange& one : report.containers) {
    model::TaskContainer* const container = container_named(change.containers, one.container_name);
    if (container != nullptr) merge_container(one, *container);
  }
  take_times(report, change);
  if (status && *status > change.last_status) change.last_status = *status;
  if (change.last_status == model::TaskStatus::Running && !change.started_at) {
    change.started_at = step.now;
  }
  if (change.last_status == model::TaskStatus::Stopped) {
    stop_containers(change);
    explain_stop(step, *task, report, change);
    settle_gpus(step, *task, report, change);
    if (!change.stopping_at) change.stopping_at = step.now;
    change.stopped_at = step.now;
    if (!change.execution_stopped_at) change.execution_stopped_at = step.now;
  }
  if (says_something_new(*task, change)) step.change(std::move(change));
  return {};
}

base::Result<void> take_container_report(
    Step& step, const model::ClusterName& cluster,
    const api::ecs::SubmitContainerStateChangeRequest& report) {
  const model::Task* const task = find_task(step, cluster, report.task.value_or(""));
  if (task == nullptr || task->last_status == model::TaskStatus::Stopped) return {};
  TRY_VOID(allow(step, "SubmitContainerStateChange", cluster, task->instance.str()));
  model::TaskReported change = unchanged(*task);
  model::TaskContainer* const container = container_named(change.containers, report.container_name);
  if (container == nullptr) {
    return invalid_parameter(base::format("The task has no container named \"{}\".",
                                          report.container_name.value_or("")));
  }
  merge_container(report, *container);
  if (says_something_new(*task, change)) step.change(std::move(change));
  return {};
}

void give_up_task(Step& step, const model::TaskArn& arn, std::string reason) {
  const model::Task* const task = model::find_task(step.state(), arn);
  CHECK(task != nullptr && task->last_status != model::TaskStatus::Stopped);
  model::TaskReported change = unchanged(*task);
  change.last_status = model::TaskStatus::Stopped;
  stop_containers(change);
  if (change.stop_code.empty()) {
    change.stop_code = "TerminationNotice";
    change.stopped_reason = std::move(reason);
  }
  if (!change.stopping_at) change.stopping_at = step.now;
  change.stopped_at = step.now;
  step.change(std::move(change));
}

}  // namespace control
