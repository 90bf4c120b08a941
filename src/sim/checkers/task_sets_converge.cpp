// A while after the last fault every task set has as many RUNNING tasks as its scale means and is
// at STEADY_STATE, and one that was deleted has gone with all its tasks; or it is plain to see why
// that cannot be.

#include <algorithm>

#include "sim/checkers/checkers.h"
#include "sim/checkers/obstacles.h"
#include "sim/checkers/task_set_view.h"
#include "sim/world.h"

namespace sim {
namespace {

class TaskSetsConverge final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "task_sets_converge"; }

  std::string awaits() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return "the server does not serve";
    for (const auto& [arn, service] : state->services) {
      if (!is_external(service) || service.status != model::ServiceStatus::Active) continue;
      const ServiceView view{*state, service, world().server().settings(),
                             world().server().local_now()};
      if (std::string why = awaits_nobody_left(view); !why.empty()) return why;
      for (const model::TaskSet& set : service.task_sets) {
        if (std::string why = awaits_set(view, set); !why.empty()) {
          return base::format("task set {} of {} {}", short_name(set.id), service.name, why);
        }
      }
    }
    return {};
  }

 private:
  static std::string awaits_nobody_left(const ServiceView& view) {
    const auto& sets = view.service.task_sets;
    for (const model::Task* const task : view.live()) {
      const bool known =
          std::ranges::find(sets, task->started_by, &model::TaskSet::id) != sets.end();
      if (known) continue;
      return base::format("task {} of {} is to run, and its task set is gone",
                          short_name(task->arn.str()), view.service.name);
    }
    return {};
  }

  std::string awaits_set(const ServiceView& view, const model::TaskSet& set) {
    if (set.draining) return "was deleted and is still there";
    const Family* const family = family_of(world().expectations(), set.source.task_definition);
    if (family == nullptr) return "is of a family that nobody knows";
    const int32_t wanted = computed_count(view.service.desired_count, set.scale_percent);
    const SetTasks tasks = tasks_of_set(view, set.id);
    const auto current = static_cast<int32_t>(tasks.firm.size());
    const auto running =
        static_cast<int32_t>(std::ranges::count_if(tasks.firm, [](const model::Task* task) {
          return task->last_status == model::TaskStatus::Running;
        }));
    if (running == wanted && current == wanted && tasks.leaving.empty()) {
      return set.stability == api::ecs::StabilityStatus::SteadyState
                 ? std::string()
                 : "has all its tasks and is not at STEADY_STATE";
    }
    if (current > wanted) return base::format("has {} task(s) and wants {}", current, wanted);
    if (set.stability == api::ecs::StabilityStatus::SteadyState && running < wanted) {
      return base::format("shows STEADY_STATE with {} of {} tasks RUNNING", running, wanted);
    }
    if (!is_fit_to_run(*family) || is_stuck(view, *family, tasks, wanted)) return {};
    return base::format("wants {} task(s), {} of {} run, and {} leave; nothing is in the way",
                        wanted, running, current, tasks.leaving.size());
  }

  // No instance has room, or those that leave may not stop before others run, nor others start
  // before they have stopped.
  static bool is_stuck(const ServiceView& view, const Family& family, const SetTasks& tasks,
                       int32_t wanted) {
    const bool place = has_place(view.state, family);
    int64_t serving = 0;
    for (const model::Task* const task : tasks.firm) {
      // In the queue, without room.
      if (task->instance.empty() && !place) return true;
      if (task->last_status != model::TaskStatus::Running) return false;
      ++serving;
    }
    serving +=
        std::ranges::count(tasks.leaving, model::TaskStatus::Running, &model::Task::last_status);
    const auto& limits = view.service.deployment_configuration;
    const int64_t least = (wanted * limits.minimum_healthy_percent.value_or(100) + 99) / 100;
    const int64_t most = wanted * limits.maximum_percent.value_or(200) / 100;
    const auto all = static_cast<int64_t>(tasks.firm.size() + tasks.leaving.size());
    if (!tasks.leaving.empty() && all >= most && serving <= least) return true;
    return !place && (tasks.leaving.empty() || serving <= least);
  }
};

}  // namespace

std::unique_ptr<Checker> make_task_sets_converge(World& world) {
  return std::make_unique<TaskSetsConverge>(world);
}

}  // namespace sim
