#include "control/tasks/task_end.h"

#include <utility>

#include "base/format.h"

namespace control {

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
          .stage = task.stage,
          .pull_percent = task.pull_percent,
          .gpu_releases = {}};
}

void stop_containers(model::TaskReported& change) {
  for (model::TaskContainer& container : change.containers) {
    container.last_status = model::TaskStatus::Stopped;
  }
}

std::set<std::string> gpus_held_by(const model::Task& task) {
  std::set<std::string> gpus;
  for (const model::GpuAssignment& held : task.held.gpus) gpus.insert(held.gpu);
  return gpus;
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
  for (const std::string& gpu : gpus_held_by(*task)) {
    change.gpu_releases.push_back(
        {gpu, model::GpuReleaseKind::Unproven,
         base::format("task {} was given up without its agent's word; the GPU is kept until that "
                      "agent is back and finds it empty",
                      model::short_id(arn.str()))});
  }
  step.change(std::move(change));
}

}  // namespace control
