// The scheduler's own doing never gives a task set more tasks than its scale says, and none to one
// that is deleted.

#include <algorithm>
#include <map>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/checkers/task_set_view.h"
#include "sim/world.h"

namespace sim {
namespace {

// What was so at the end of the turn before.
struct TaskSetsBefore {
  int32_t desired = 0;
  std::map<std::string, double> percents;  // By set; of one that is deleted 0.
  std::set<model::TaskArn> tasks;          // All that were not STOPPED.
  std::set<model::TaskArn> firm;
};

double percent_of(const model::TaskSet& set) {
  return set.draining ? 0 : set.scale_percent;
}

class TaskSetsBounded final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "task_sets_bounded"; }

  void turned(const Turn& turn) override {
    if (!turn.released.reloaded) {
      for (const auto& [arn, service] : turn.state.services) {
        const auto before = before_.find(arn);
        if (before == before_.end() || service.status != model::ServiceStatus::Active) continue;
        for (const model::TaskSet& set : service.task_sets) {
          check(turn, service, set, before->second);
        }
      }
    }
    remember(turn.state, turn.now);
  }
  void loaded(const model::ClusterState& state) override {
    remember(state, world().server().local_now());
  }

 private:
  void remember(const model::ClusterState& state, base::Time now) {
    before_.clear();
    for (const auto& [arn, service] : state.services) {
      if (!is_external(service)) continue;
      const ServiceView view{state, service, world().server().settings(), now};
      TaskSetsBefore& before = before_[arn];
      before.desired = service.desired_count;
      if (const auto* const tasks = model::tasks_of(state, service)) before.tasks = *tasks;
      for (const model::TaskSet& set : service.task_sets) {
        before.percents[set.id] = percent_of(set);
        for (const model::Task* task : tasks_of_set(view, set.id).firm) {
          before.firm.insert(task->arn);
        }
      }
    }
  }

  // The most that was asked for at any moment of the turn.
  static int32_t allowed(const Turn& turn, const model::Service& service, const model::TaskSet& set,
                         const TaskSetsBefore& before) {
    int32_t desired = std::max(before.desired, service.desired_count);
    const auto known = before.percents.find(set.id);
    double percent = std::max(known == before.percents.end() ? 0 : known->second, percent_of(set));
    for (const auto& [id, call] : turn.calls) {
      if (call.service == service.name) desired = std::max(desired, call.desired_count.value_or(0));
      if (call.task_sets_of == service.name && call.update_task_set) {
        percent = std::max(percent, call.update_task_set->scale->value.value_or(0));
      }
    }
    return computed_count(desired, percent);
  }

  void check(const Turn& turn, const model::Service& service, const model::TaskSet& set,
             const TaskSetsBefore& before) {
    const ServiceView view{turn.state, service, world().server().settings(), turn.now};
    const model::Task* started = nullptr;
    int32_t count = 0;
    for (const model::Task* const task : tasks_of_set(view, set.id).firm) {
      const bool is_new = !before.tasks.contains(task->arn);
      if (is_new) started = task;
      // One whose instance has just come back was not there when tasks were counted.
      if (is_new || before.firm.contains(task->arn)) ++count;
    }
    const int32_t most = allowed(turn, service, set, before);
    if (started == nullptr || count <= most) return;
    fail(
        base::format("task set {} of {} has started task {}, and has {} tasks where its scale of "
                     "{} % means {}",
                     short_name(set.id), service.name, short_name(started->arn.str()), count,
                     set.scale_percent, most));
  }

  std::map<model::ServiceArn, TaskSetsBefore> before_;
};

}  // namespace

std::unique_ptr<Checker> make_task_sets_bounded(World& world) {
  return std::make_unique<TaskSetsBounded>(world);
}

}  // namespace sim
