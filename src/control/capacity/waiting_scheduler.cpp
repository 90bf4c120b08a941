#include "control/capacity/waiting_scheduler.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/format.h"
#include "control/capacity/queue_pass.h"
#include "control/capacity/wait_detail.h"
#include "control/capacity/waiting.h"

namespace control {
namespace {

// Reports and calls come in flocks: one pass serves all that arrive within this time.
constexpr base::Milliseconds queue_flock{25};
// A pass looks at every waiting task: where many wait, passes are further apart.
constexpr int64_t waiting_tasks_a_millisecond = 20;

size_t waiting_in(const model::ClusterState& state, const model::ClusterName& cluster) {
  const auto waiting = state.waiting_tasks.find(cluster);
  return waiting == state.waiting_tasks.end() ? 0 : waiting->second.size();
}

// What was refused since the last placement: a task that asks just the same is refused for the
// same.
class Refused {
 public:
  // nullptr: try it.
  const placement::Refusal* find(const model::Task& task) const {
    const auto same = std::ranges::find_if(all_, [&](const auto& one) {
      const model::Task& other = *one.first;
      return other.definition == task.definition &&
             other.capacity_provider == task.capacity_provider && other.group == task.group &&
             other.launch_type == task.launch_type && other.overrides == task.overrides &&
             other.waiting == task.waiting;
    });
    return same == all_.end() ? nullptr : &same->second;
  }
  void add(const model::Task& task, placement::Refusal refusal) {
    all_.emplace_back(&task, std::move(refusal));
  }

 private:
  std::vector<std::pair<const model::Task*, placement::Refusal>> all_;
};

std::string stop_reason(const model::Task& task) {
  return base::format("TaskFailedToStart: {}", task.wait_reason);
}

}  // namespace

WaitingScheduler::WaitingScheduler(const model::ClusterState& state, base::Time now) {
  for (const auto& [cluster, tasks] : state.waiting_tasks) {
    for (const model::TaskArn& arn : tasks) add(state.tasks.at(arn));
    due_.set_no_later(cluster, now);
  }
}

void WaitingScheduler::add(const model::Task& task) {
  if (!waits_for_group(task)) return;
  for_groups_[task.cluster].emplace(task.created_at, task.arn);
  known_.emplace(task.arn, std::pair(task.cluster, task.created_at));
}

void WaitingScheduler::remove(const model::TaskArn& arn) {
  const auto found = known_.find(arn);
  if (found == known_.end()) return;
  const auto& [cluster, created_at] = found->second;
  const auto tasks = for_groups_.find(cluster);
  tasks->second.erase({created_at, arn});
  if (tasks->second.empty()) for_groups_.erase(tasks);
  known_.erase(found);
}

void WaitingScheduler::room_may_have_come(const Step& step, const model::ClusterName& cluster) {
  const size_t waiting = waiting_in(step.state(), cluster);
  if (waiting == 0) return;
  base::Time at = step.now + queue_flock;
  const auto last = last_pass_.find(cluster);
  if (last != last_pass_.end()) {
    const base::Milliseconds apart(static_cast<int64_t>(waiting) / waiting_tasks_a_millisecond);
    at = std::max(at, last->second + apart);
  }
  due_.set_no_later(cluster, at);
}

void WaitingScheduler::observe(Step& step, const model::Change& change) {
  if (const auto* const queued = std::get_if<model::TaskQueued>(&change)) {
    const model::Task* const task = model::find_task(step.state(), queued->task.arn);
    if (task != nullptr && task->waiting) add(*task);
    room_may_have_come(step, queued->task.cluster);
  } else if (const auto* const placed = std::get_if<model::TaskPlaced>(&change)) {
    remove(placed->task.arn);
    room_may_have_come(step, placed->task.cluster);  // For one that wants to be where it is.
  } else if (const auto* const report = std::get_if<model::TaskReported>(&change)) {
    if (report->last_status != model::TaskStatus::Stopped) return;
    remove(report->arn);
    const model::Task* const task = model::find_task(step.state(), report->arn);
    if (task != nullptr) room_may_have_come(step, task->cluster);
  } else if (const auto* const tags = std::get_if<model::TagsSet>(&change)) {
    const auto* const arn = std::get_if<model::TaskArn>(&tags->resource);
    const model::Task* const task = arn == nullptr ? nullptr : model::find_task(step.state(), *arn);
    if (task != nullptr && task->waiting) room_may_have_come(step, task->cluster);
  } else if (model::gives_capacity(change)) {
    std::vector<model::InstanceArn> touched;
    model::touched_instances(step.state(), change, touched);
    for (const model::InstanceArn& arn : touched) {
      const auto* const instance = model::find_instance(step.state(), arn);
      if (instance != nullptr) room_may_have_come(step, instance->cluster);
    }
  }
}

void WaitingScheduler::try_group_tasks(Step& step, const model::ClusterName& cluster) {
  const auto waiting = for_groups_.find(cluster);
  if (waiting == for_groups_.end()) return;
  const Oldest tasks = waiting->second;
  Refused refused;
  for (const auto& [created_at, arn] : tasks) {
    const model::Task& task = step.state().tasks.at(arn);
    auto plan = plan_waiting_task(step, task);
    if (!plan) {
      remove(arn);
      end_waiting_task(step, arn, "TaskFailedToStart", plan.error().message);
      continue;
    }
    const placement::Refusal* refusal = refused.find(task);
    if (refusal == nullptr) {
      auto placed = step.engine.place(step.state(), plan->request, step.random);
      if (placed) {
        remove(arn);
        place_waiting_task(step, task, std::move(*placed));
        refused = Refused();
        continue;
      }
      refused.add(task, placed.error().front());
      refusal = refused.find(task);
    }
    note_wait(step, task, refusal->reason, wait_detail(step, plan->request, *refusal));
    if (created_at + step.settings.provisioning_limit <= step.now) {
      remove(arn);
      end_waiting_task(step, arn, "TaskFailedToStart", stop_reason(task));
    }
  }
}

void WaitingScheduler::run_pass(Step& step, const model::ClusterName& cluster) {
  last_pass_[cluster] = step.now;
  try_group_tasks(step, cluster);
  const auto oldest = for_groups_.find(cluster);
  size_t of_groups = 0;
  if (oldest != for_groups_.end()) {
    of_groups = oldest->second.size();
    due_.set_no_later(cluster, oldest->second.begin()->first + step.settings.provisioning_limit);
  }
  if (waiting_in(step.state(), cluster) > of_groups) {
    const base::Time again = run_queue_pass(step, cluster);
    if (again != base::Time::max()) {
      due_.set_no_later(cluster, std::max(again, step.now + queue_flock));
    }
  }
  if (waiting_in(step.state(), cluster) == 0) last_pass_.erase(cluster);
}

void WaitingScheduler::tick(Step& step) {
  for (const model::ClusterName& cluster : due_.due(step.now)) {
    due_.erase(cluster);
    const size_t first = step.changes().size();
    run_pass(step, cluster);
    // Others may want to be where those are that were placed just now.
    const size_t last = step.changes().size();
    for (size_t i = first; i < last; ++i) observe(step, step.changes()[i]);
  }
}

}  // namespace control
