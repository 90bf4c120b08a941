#include "control/agents/reports.h"

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/format.h"
#include "control/agents/official_agent.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/services/pull_events.h"
#include "control/tasks/task_end.h"

namespace control {
namespace {

constexpr size_t most_stage = 255;

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

const api::ecs::BerthGpuRelease* release_of(const api::ecs::SubmitTaskStateChangeRequest& report,
                                            const std::string& gpu) {
  const auto found = std::ranges::find_if(
      report.gpu_release, [&](const auto& release) { return release.gpu_id == gpu; });
  return found == report.gpu_release.end() ? nullptr : &*found;
}

// What a report of STOPPED says of one GPU.
model::GpuRelease release_by(const model::ContainerInstance& instance,
                             const api::ecs::SubmitTaskStateChangeRequest& report,
                             const std::string& gpu) {
  using enum model::GpuReleaseKind;
  if (!is_berth_agent(instance)) return {gpu, OnWordAlone, {}};
  const api::ecs::BerthGpuRelease* const told = release_of(report, gpu);
  if (told == nullptr) {
    return {gpu, NotEmpty,
            "the agent reported the task STOPPED without proof that the GPU is empty"};
  }
  if (told->empty.value_or(false)) return {gpu, Proven, {}};
  const std::string reason = bounded(told->reason);
  return {gpu, NotEmpty, reason.empty() ? "the agent found the GPU in use" : reason};
}

// An official agent's STOPPED must do as proof; Berth's own says of each GPU whether it is empty.
void settle_gpus(const Step& step, const model::Task& task,
                 const api::ecs::SubmitTaskStateChangeRequest& report,
                 model::TaskReported& change) {
  using enum model::GpuReleaseKind;
  const auto* const instance = model::find_instance(step.state(), task.instance);
  CHECK(instance != nullptr);
  for (const std::string& gpu : gpus_held_by(task)) {
    model::GpuRelease release = release_by(*instance, report, gpu);
    const model::GpuSlot* const slot = model::find_gpu(*instance, gpu);
    CHECK(slot != nullptr);
    // What is so already needs no record.
    const bool known = (release.kind == Proven && !slot->released_unproven) ||
                       (release.kind == OnWordAlone && slot->released_unproven);
    if (!known) change.gpu_releases.push_back(std::move(release));
  }
}

// An official agent says so of a payload that it cannot take in. What it has started before goes
// on. Source: amazon-ecs-agent, ecs-agent/api/errors/errors.go and
// ecs-agent/acs/session/payload_responder.go, whose spelling this is.
bool is_about_payload(const api::ecs::SubmitTaskStateChangeRequest& report) {
  const std::string& reason = report.reason.value_or("");
  return reason.starts_with("resource cannot be initialized for task ") ||
         reason.starts_with("UnrecogniedTaskError");
}

bool has_started(const model::Task& task) {
  return task.started_at ||
         std::ranges::any_of(task.containers, [](const model::TaskContainer& container) {
           return !container.runtime_id.empty();
         });
}

// A task that was given up, and whose GPUs are kept until its agent tells: now it does.
base::Result<void> take_late_proof(Step& step, const model::ClusterName& cluster,
                                   const api::ecs::SubmitTaskStateChangeRequest& report) {
  if (report.status != "STOPPED" || is_about_payload(report)) return {};
  const std::string& text = report.task.value_or("");
  const model::TaskArn task = text.starts_with("arn:")
                                  ? model::TaskArn(text)
                                  : model::task_arn(step.settings.account, cluster, text);
  std::vector<std::pair<const model::ContainerInstance*, std::string>> waiting;
  for (const auto& [arn, instance] : step.state().instances) {
    for (const model::GpuSlot& gpu : instance.gpus) {
      if (gpu.unproven_tasks.contains(task)) waiting.emplace_back(&instance, gpu.device.uuid);
    }
  }
  for (const auto& [instance, gpu] : waiting) {
    TRY_VOID(allow(step, "SubmitTaskStateChange", instance->cluster, instance->arn.str()));
  }
  for (const auto& [instance, gpu] : waiting) {
    model::GpuRelease release = release_by(*instance, report, gpu);
    if (release.kind != model::GpuReleaseKind::NotEmpty) {
      const bool on_word_alone = release.kind == model::GpuReleaseKind::OnWordAlone;
      step.change(model::GpuProven{instance->arn, gpu, task, on_word_alone});
    } else if (release_of(report, gpu) != nullptr) {
      step.change(model::GpuQuarantined{instance->arn, gpu, std::move(release.reason)});
    }
  }
  return {};
}

void take_times(const api::ecs::SubmitTaskStateChangeRequest& report, model::TaskReported& change) {
  if (report.pull_started_at) change.pull_started_at = report.pull_started_at;
  if (report.pull_stopped_at) change.pull_stopped_at = report.pull_stopped_at;
  if (report.execution_stopped_at) change.execution_stopped_at = report.execution_stopped_at;
}

// Where a task is on its way, and what is left of one whose containers have ended.
std::string stage_of(const api::ecs::SubmitTaskStateChangeRequest& report,
                     model::TaskStatus status) {
  if (status >= model::TaskStatus::Stopped) return {};
  return report.berth_stage.value_or("").substr(0, most_stage);
}

std::optional<int32_t> percent_of(const api::ecs::SubmitTaskStateChangeRequest& report) {
  if (!report.berth_pull_percent) return std::nullopt;
  return std::clamp(*report.berth_pull_percent, 0, 100);
}

bool says_something_new(const model::Task& task, const model::TaskReported& change) {
  if (task.last_status != change.last_status) return true;
  if (task.pull_started_at != change.pull_started_at ||
      task.pull_stopped_at != change.pull_stopped_at ||
      task.execution_stopped_at != change.execution_stopped_at || task.stage != change.stage ||
      task.pull_percent != change.pull_percent) {
    return true;
  }
  return task.containers != change.containers;
}

}  // namespace

base::Result<void> take_task_report(Step& step, const model::ClusterName& cluster,
                                    const api::ecs::SubmitTaskStateChangeRequest& report) {
  const model::Task* const task = find_task(step, cluster, report.task.value_or(""));
  if (task == nullptr || task->last_status == model::TaskStatus::Stopped) {
    return take_late_proof(step, cluster, report);
  }
  if (task->waiting) return {};  // No agent has it yet.
  TRY_VOID(allow(step, "SubmitTaskStateChange", cluster, task->instance.str()));
  const auto status = report.status ? model::parse_task_status(*report.status) : std::nullopt;
  if (report.status && !status) {
    return invalid_parameter(
        base::format("status is \"{}\"; it must be PENDING, RUNNING or STOPPED.", *report.status));
  }
  // It holds what it has until its agent tells of its containers, at the latest after the manifest
  // of its next session.
  if (status == model::TaskStatus::Stopped && is_about_payload(report) && has_started(*task)) {
    return {};
  }
  model::TaskReported change = unchanged(*task);
  for (const api::ecs::ContainerStateChange& one : report.containers) {
    model::TaskContainer* const container = container_named(change.containers, one.container_name);
    if (container != nullptr) merge_container(one, *container);
  }
  take_times(report, change);
  if (status && *status > change.last_status) change.last_status = *status;
  change.stage = stage_of(report, change.last_status);
  change.pull_percent = change.stage.empty() ? std::nullopt : percent_of(report);
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
  if (!says_something_new(*task, change)) return {};
  const bool pull_ended = change.pull_stopped_at && !task->pull_stopped_at;
  step.change(std::move(change));
  tell_of_pull(step, *task, pull_ended);
  return {};
}

base::Result<void> take_container_report(
    Step& step, const model::ClusterName& cluster,
    const api::ecs::SubmitContainerStateChangeRequest& report) {
  const model::Task* const task = find_task(step, cluster, report.task.value_or(""));
  if (task == nullptr || task->last_status == model::TaskStatus::Stopped || task->waiting) {
    return {};
  }
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

}  // namespace control
