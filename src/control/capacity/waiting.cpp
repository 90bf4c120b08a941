#include "control/capacity/waiting.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "control/request/errors.h"

namespace control {

const model::Task& queue_planned_task(Step& step, const TaskPlan& plan,
                                      std::string capacity_provider) {
  model::Task task = plan.task;
  name_planned_task(step, task);
  task.last_status = model::TaskStatus::Provisioning;
  task.capacity_provider = std::move(capacity_provider);
  task.waiting = plan.asked;
  const model::TaskArn arn = task.arn;
  step.change(model::TaskQueued{std::move(task)});
  return *model::find_task(step.state(), arn);
}

base::Result<TaskPlan> plan_waiting_task(const Step& step, const model::Task& task) {
  CHECK(task.waiting.has_value());
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), task.definition);
  if (definition == nullptr) {
    return client_error(
        base::format("The task definition {} does not exist any more.", task.definition.str()));
  }
  TaskPlan plan;
  plan.request = TRY(request_of(*definition, task.overrides));
  plan.request.cluster = task.cluster;
  plan.request.group = task.group;
  plan.request.launch_type = task.launch_type;
  plan.request.capacity_provider = task.capacity_provider;
  plan.task = task;
  ask_placement(plan, task.waiting->constraints, task.waiting->strategies);
  return plan;
}

const model::Task& place_waiting_task(Step& step, const model::Task& task,
                                      placement::Placement placement) {
  CHECK(task.waiting.has_value());
  model::Task placed = task;
  take_place(step, placed, std::move(placement));
  placed.last_status = model::TaskStatus::Pending;
  placed.waiting.reset();
  placed.wait_reason.clear();
  placed.wait_detail.clear();
  ++placed.version;
  const model::TaskArn arn = placed.arn;
  step.change(model::TaskPlaced{std::move(placed)});
  return *model::find_task(step.state(), arn);
}

void end_waiting_task(Step& step, const model::TaskArn& arn, std::string stop_code,
                      std::string reason) {
  const model::Task* const task = model::find_task(step.state(), arn);
  CHECK(task != nullptr && task->waiting.has_value());
  step.change(model::TaskStopRequested{arn, std::move(stop_code), std::move(reason), step.now});
  model::TaskReported ended;
  ended.arn = arn;
  ended.last_status = model::TaskStatus::Stopped;
  ended.containers = task->containers;
  for (model::TaskContainer& container : ended.containers) {
    container.last_status = model::TaskStatus::Stopped;
  }
  ended.stop_code = task->stop_code;
  ended.stopped_reason = task->stopped_reason;
  ended.stopping_at = step.now;
  ended.stopped_at = step.now;
  ended.execution_stopped_at = step.now;
  step.change(std::move(ended));
}

void note_wait(Step& step, const model::Task& task, const std::string& reason,
               const std::string& detail) {
  if (task.wait_reason == reason && task.wait_detail == detail) return;
  step.change(model::TaskWaits{task.arn, reason, detail});
}

bool waits_for_group(const model::Task& task) {
  return task.waiting && task.capacity_provider != model::berth_queue;
}

size_t count_waiting_for_groups(const model::ClusterState& state,
                                const model::ClusterName& cluster) {
  const auto waiting = state.waiting_tasks.find(cluster);
  if (waiting == state.waiting_tasks.end()) return 0;
  return static_cast<size_t>(std::ranges::count_if(waiting->second, [&](const model::TaskArn& arn) {
    return waits_for_group(state.tasks.at(arn));
  }));
}

}  // namespace control
