#include "control/capacity/queue_pass.h"

#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/json.h"
#include "base/format.h"
#include "control/capacity/gang.h"
#include "control/capacity/queue_tags.h"
#include "control/capacity/waiting.h"
#include "control/step/queue_notes.h"
#include "reconcile/queue/queue.h"

namespace control {
namespace {

namespace queue = reconcile::queue;

// All of a waiting task's record that its request to the placement engine follows from.
std::string kind_of(const model::Task& task) {
  std::string key = base::format("{}\n{}\n{}", task.definition.str(), task.group, task.launch_type);
  if (task.overrides) key += "\n" + api::print(*task.overrides);
  for (const auto& constraint : task.waiting->constraints) key += "\n" + api::print(constraint);
  for (const auto& strategy : task.waiting->strategies) key += "\n" + api::print(strategy);
  return key;
}

// The queue's tasks of one cluster, as the policy sees them.
class Line {
 public:
  // A task that cannot be planned any more ends with the reason.
  Line(Step& step, const model::ClusterName& cluster) {
    const auto waiting = step.state().waiting_tasks.find(cluster);
    if (waiting == step.state().waiting_tasks.end()) return;
    const std::vector<model::TaskArn> all(waiting->second.begin(), waiting->second.end());
    for (const model::TaskArn& arn : all) {
      const model::Task& task = step.state().tasks.at(arn);
      if (task.capacity_provider != model::berth_queue) continue;
      auto entry = entry_of(step, task);
      if (entry) {
        tasks_.push_back(std::move(*entry));
      } else {
        end_waiting_task(step, arn, "TaskFailedToStart",
                         base::format("TaskFailedToStart: {}", entry.error().message));
      }
    }
  }

  const std::vector<queue::WaitingTask>& tasks() const { return tasks_; }

 private:
  base::Result<queue::WaitingTask> entry_of(const Step& step, const model::Task& task) {
    queue::WaitingTask entry;
    entry.arn = task.arn;
    entry.need = TRY(need_of(step, task));
    entry.queued_at = task.created_at;
    entry.tags = TRY(read_queue_tags(task.tags));
    entry.share = entry.tags.share.empty() ? task.group : entry.tags.share;
    entry.gang = gang_of(task);
    entry.gang_size = gang_size_of(task);
    return entry;
  }

  base::Result<const queue::Requirements*> need_of(const Step& step, const model::Task& task) {
    std::string kind = kind_of(task);
    const auto known = need_of_kind_.find(kind);
    if (known != need_of_kind_.end()) return known->second;
    TaskPlan plan = TRY(plan_waiting_task(step, task));
    needs_.push_back(queue::requirements_of(std::move(plan.request)));
    need_of_kind_.emplace(std::move(kind), &needs_.back());
    return &needs_.back();
  }

  std::vector<queue::WaitingTask> tasks_;
  std::deque<queue::Requirements> needs_;  // Pointed to.
  std::map<std::string, const queue::Requirements*> need_of_kind_;
};

// One task, or a gang by rank: all in this step, and so in one transaction of the store.
void start(Step& step, const std::vector<queue::Start>& starts) {
  for (size_t rank = 0; rank < starts.size(); ++rank) {
    model::Task task = step.state().tasks.at(starts[rank].task);
    if (!gang_of(task).empty()) {
      task.gang_environment = gang_environment(step, task, rank, starts.front().placement.instance);
    }
    place_waiting_task(step, task, starts[rank].placement);
  }
}

}  // namespace

base::Time run_queue_pass(Step& step, const model::ClusterName& cluster) {
  const Line line(step, cluster);
  const queue::Input ground{
      .state = step.state(),
      .cluster = cluster,
      .engine = step.engine,
      .random = step.random,
      .commit = [&](const std::vector<queue::Start>& starts) { start(step, starts); }};
  queue::Outcome outcome =
      step.settings.queue_policy(ground, line.tasks(), step.now, step.settings.queue);
  for (const queue::Expired& expired : outcome.expired) {
    end_waiting_task(step, expired.task, "TaskFailedToStart",
                     base::format("TaskFailedToStart: {}", expired.reason));
  }
  auto& notes = step.queue_notes.clusters[cluster];
  notes.clear();
  for (queue::Verdict& verdict : outcome.waiting) {
    note_wait(step, step.state().tasks.at(verdict.task), verdict.reason, verdict.detail);
    const model::TaskArn arn = verdict.task;
    notes.emplace(arn, std::move(verdict));
  }
  if (notes.empty()) step.queue_notes.clusters.erase(cluster);
  return outcome.wake;
}

}  // namespace control
