// The scheduler's own doing leaves a service its healthy minimum and never gives it more tasks than
// its maximum; of a daemon, one task on an instance.

#include <algorithm>
#include <map>
#include <set>

#include "reconcile/gpu_rolling.h"
#include "sim/checkers/checkers.h"
#include "sim/checkers/service_view.h"
#include "sim/world.h"

namespace sim {
namespace {

// What was so at the end of the turn before.
struct ServiceBefore {
  int32_t least = 0;
  int32_t most = 0;
  std::set<model::TaskArn> tasks;    // All that were not STOPPED.
  std::set<model::TaskArn> wanted;   // Those wanted to run.
  std::set<model::TaskArn> running;  // Those wanted, and RUNNING.
};

class ServicesMinimum final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "services_minimum"; }

  void turned(const Turn& turn) override {
    if (turn.released.reloaded) return remember(turn.state);
    for (const auto& [arn, service] : turn.state.services) {
      const auto before = before_.find(arn);
      if (service.status != model::ServiceStatus::Active || before == before_.end()) continue;
      if (is_external(service)) continue;  // task_sets_bounded
      const ServiceView view{turn.state, service, world().server().settings(), turn.now};
      check_stops(view, before->second);
      check_starts(view, before->second);
    }
    remember(turn.state);
  }
  void loaded(const model::ClusterState& state) override { remember(state); }

 private:
  void remember(const model::ClusterState& state) {
    before_.clear();
    for (const auto& [arn, service] : state.services) {
      const ServiceView view{state, service, world().server().settings(), {}};
      ServiceBefore& before = before_[arn];
      before.least = view.least();
      before.most = view.most();
      const auto* const tasks = model::tasks_of(state, service);
      if (tasks == nullptr) continue;
      before.tasks = *tasks;
      for (const model::TaskArn& task_arn : *tasks) {
        const model::Task& task = state.tasks.at(task_arn);
        if (task.desired_status == model::TaskStatus::Stopped) continue;
        before.wanted.insert(task_arn);
        if (task.last_status == model::TaskStatus::Running) before.running.insert(task_arn);
      }
    }
  }

  // One that the scheduler has stopped in this turn although it served.
  static bool was_taken(const ServiceView& view, const model::Task& task) {
    return task.desired_status == model::TaskStatus::Stopped &&
           task.stop_code == "ServiceSchedulerInitiated" && task.started_at &&
           !view.is_lost(task) &&
           (!view.is_current(task) || *task.started_at + view.settings.service_settle <= view.now);
  }

  void check_stops(const ServiceView& view, const ServiceBefore& before) {
    const model::Task* taken = nullptr;
    int32_t lost_to_others = 0;
    for (const model::TaskArn& arn : before.running) {
      const model::Task* const task = model::find_task(view.state, arn);
      if (task == nullptr || (task->desired_status != model::TaskStatus::Stopped &&
                              task->last_status == model::TaskStatus::Running)) {
        continue;
      }
      if (task->stop_code != "ServiceSchedulerInitiated") {
        ++lost_to_others;
      } else if (was_taken(view, *task) && !leaves_its_instance(view, *task)) {
        taken = task;
      }
    }
    if (taken == nullptr) return;
    const int32_t least = std::min(before.least, view.least()) - allowance(view);
    const int32_t serving = view.serving() + lost_to_others;
    if (serving >= least) return;
    fail(base::format("{} has stopped task {} ({}), and {} of {} tasks serve where {} must",
                      view.service.name, short_name(taken->arn.str()), taken->stopped_reason,
                      serving, view.service.desired_count, least));
  }

  // A daemon has no business on an instance that is drained or gone.
  static bool leaves_its_instance(const ServiceView& view, const model::Task& task) {
    const auto* const instance = model::find_instance(view.state, task.instance);
    return view.is_daemon() &&
           (instance == nullptr || instance->status != model::InstanceStatus::Active);
  }

  // The client has asked for tasks to be replaced one after the other where GPUs are full.
  static int32_t allowance(const ServiceView& view) {
    return reconcile::replaces_gpu_tasks(view.state, view.service) ? 1 : 0;
  }

  void check_starts(const ServiceView& view, const ServiceBefore& before) {
    const auto* const tasks = model::tasks_of(view.state, view.service);
    if (tasks == nullptr) return;
    for (const model::TaskArn& arn : *tasks) {
      if (before.tasks.contains(arn)) continue;
      if (view.is_daemon()) {
        check_daemon(view, view.state.tasks.at(arn));
        continue;
      }
      const auto live = static_cast<int32_t>(view.live().size());
      const int32_t most = std::max(before.most, view.most());
      if (live <= most) return;
      return fail(
          base::format("{} has started task {}, and now {} tasks are wanted to run where "
                       "{} may",
                       view.service.name, short_name(arn.str()), live, most));
    }
  }

  void check_daemon(const ServiceView& view, const model::Task& started) {
    for (const model::Task* const other : view.live()) {
      if (other->arn == started.arn || other->instance != started.instance) continue;
      fail(base::format("daemon {} has started task {} on the instance of task {}",
                        view.service.name, short_name(started.arn.str()),
                        short_name(other->arn.str())));
    }
  }

  std::map<model::ServiceArn, ServiceBefore> before_;
};

}  // namespace

std::unique_ptr<Checker> make_services_minimum(World& world) {
  return std::make_unique<ServicesMinimum>(world);
}

}  // namespace sim
