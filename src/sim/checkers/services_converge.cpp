// A while after the last fault every service is as it is wanted: all its tasks RUNNING, all of the
// one deployment; or it is plain to see why that cannot be.

#include <algorithm>

#include "sim/checkers/checkers.h"
#include "sim/checkers/obstacles.h"
#include "sim/checkers/service_view.h"
#include "sim/world.h"

namespace sim {
namespace {

using RolloutState = api::ecs::DeploymentRolloutState;

class ServicesConverge final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "services_converge"; }

  std::string awaits() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return "the server does not serve";
    for (const auto& [arn, service] : state->services) {
      if (service.status == model::ServiceStatus::Inactive) continue;
      if (service.status == model::ServiceStatus::Draining) {
        return base::format("{} was deleted and is still DRAINING", service.name);
      }
      if (is_external(service)) continue;  // task_sets_converge
      const ServiceView view{*state, service, world().server().settings(),
                             world().server().local_now()};
      const std::string why = view.is_daemon() ? awaits_daemon(view) : awaits_replicas(view);
      if (!why.empty()) return base::format("{} {}", service.name, why);
    }
    return {};
  }

 private:
  std::string awaits_replicas(const ServiceView& view) {
    const model::Deployment& primary = view.service.deployments.front();
    const Family* const family =
        family_of(world().expectations(), view.service.source.task_definition);
    if (family == nullptr) return "is of a family that nobody knows";
    if (std::string why = awaits_breaker(view, *family); !why.empty()) return why;
    // Nothing more is started for it.
    if (primary.rollout_state == RolloutState::Failed || !is_fit_to_run(*family)) return {};
    int32_t current = 0;
    int32_t others = 0;
    for (const model::Task* const task : view.live()) {
      if (!view.is_current(*task)) {
        ++others;
        continue;
      }
      ++current;
      // In the queue, without room.
      if (task->instance.empty() && !has_place(view.state, *family)) return {};
      if (task->last_status != model::TaskStatus::Running) {
        return base::format("has task {}, which is {}", short_name(task->arn.str()),
                            model::to_string(task->last_status));
      }
    }
    if (current == view.service.desired_count && others == 0) return awaits_completion(view);
    if (current > view.service.desired_count) {
      return base::format("has {} task(s) and wants {}", current, view.service.desired_count);
    }
    if (cannot_go_on(view, *family, current, others)) return {};
    return base::format("wants {} task(s) and has {}, and {} to be replaced; nothing is in the way",
                        view.service.desired_count, current, others);
  }

  // All are in place: the deployment is completed, and it is the only one.
  static std::string awaits_completion(const ServiceView& view) {
    const model::Deployment& primary = view.service.deployments.front();
    if (primary.rollout_state != RolloutState::Completed) {
      return base::format("has all its tasks, and deployment {} is not COMPLETED", primary.id);
    }
    if (view.service.deployments.size() > 1) return "has all its tasks, and a deployment too many";
    if (!view.service.steady) return "has all its tasks, and is not steady";
    return {};
  }

  // What cannot start is given up by a circuit breaker once it has failed often enough.
  std::string awaits_breaker(const ServiceView& view, const Family& family) {
    const model::Deployment& primary = view.service.deployments.front();
    const auto& breaker = view.service.deployment_configuration.deployment_circuit_breaker;
    const bool watched = breaker && breaker->enable.value_or(false);
    const bool hopeless = !is_fit_to_run(family) && view.service.desired_count > 0;
    if (primary.rollout_state == RolloutState::Failed) {
      return watched ? "" : "has a FAILED deployment without a circuit breaker";
    }
    if (!hopeless || !watched || primary.rollout_state != RolloutState::InProgress) return {};
    const bool may_start =
        view.most() > static_cast<int32_t>(view.live().size()) || view.least() < view.serving();
    const bool can_start = may_start && has_place(view.state, family);
    if (!can_start) return {};
    return base::format("cannot start any task of {}, and its circuit breaker has not tripped",
                        family.name);
  }

  bool cannot_go_on(const ServiceView& view, const Family& family, int32_t current,
                    int32_t others) {
    // Neither may one stop before a new one runs, nor a new one start before one has stopped.
    if (others > 0 && current + others >= view.most() && view.serving() <= view.least()) {
      return true;
    }
    if (has_place(view.state, family)) return false;
    // An old one that may go would make room, or at least go.
    return others == 0 || view.serving() <= view.least();
  }

  // A daemon's desired count is that of the ACTIVE instances, and so is what its minimum is of.
  static int32_t serving_on_active(const ServiceView& view) {
    const auto live = view.live();
    return static_cast<int32_t>(std::ranges::count_if(live, [&](const model::Task* task) {
      const auto* const instance = model::find_instance(view.state, task->instance);
      return instance != nullptr && instance->status == model::InstanceStatus::Active &&
             view.serves(*task);
    }));
  }

  static bool runs_or_has_to_stay(const ServiceView& view, const model::Task& task) {
    if (view.is_current(task)) return task.last_status == model::TaskStatus::Running;
    return serving_on_active(view) <= view.least();
  }

  // One on each ACTIVE instance that has room for it.
  std::string awaits_daemon(const ServiceView& view) {
    const model::Deployment& primary = view.service.deployments.front();
    const Family* const family =
        family_of(world().expectations(), view.service.source.task_definition);
    if (family == nullptr) return "is of a family that nobody knows";
    if (std::string why = awaits_breaker(view, *family); !why.empty()) return why;
    if (primary.rollout_state == RolloutState::Failed || !is_fit_to_run(*family)) return {};
    bool whole = true;
    for (const auto& [arn, instance] : view.state.instances) {
      if (instance.status != model::InstanceStatus::Active) continue;
      const model::Task* own = nullptr;
      for (const model::Task* const task : view.live()) {
        if (task->instance != arn) continue;
        if (own != nullptr) return "has two tasks on one instance";
        own = task;
      }
      whole = whole && own != nullptr;
      const bool settled =
          own == nullptr ? !obstacles(instance, *family).empty() : runs_or_has_to_stay(view, *own);
      if (settled) continue;
      return base::format("has no RUNNING task of its deployment on instance {}",
                          short_name(arn.str()));
    }
    if (!whole || view.service.desired_count == 0) return {};
    const bool one = std::ranges::all_of(
        view.live(), [&](const model::Task* task) { return view.is_current(*task); });
    return one ? awaits_completion(view) : std::string();
  }
};

}  // namespace

std::unique_ptr<Checker> make_services_converge(World& world) {
  return std::make_unique<ServicesConverge>(world);
}

}  // namespace sim
