#include "reconcile/classify.h"

#include <algorithm>

namespace reconcile {
namespace {

// Looks definitions up once for runs of tasks that share one.
class HealthChecks {
 public:
  explicit HealthChecks(const model::ClusterState& state) : state_(state) {}

  // The containers whose health decides about the task's.
  const std::vector<std::string>& of(const model::Task& task) {
    if (task.definition == last_) return containers_;
    last_ = task.definition;
    containers_.clear();
    const model::TaskDefinition* const definition =
        model::find_task_definition(state_, task.definition);
    if (definition == nullptr) return containers_;
    for (const auto& container : definition->definition.container_definitions) {
      if (container.health_check && container.essential.value_or(true)) {
        containers_.push_back(container.name.value_or(""));
      }
    }
    return containers_;
  }

 private:
  const model::ClusterState& state_;
  model::TaskDefinitionArn last_;
  std::vector<std::string> containers_;
};

Phase checked_phase(const Input& input, const model::Task& task,
                    const std::vector<std::string>& checked, base::Time& wake) {
  bool all_healthy = true;
  bool one_unhealthy = false;
  for (const model::TaskContainer& container : task.containers) {
    if (std::ranges::find(checked, container.name) == checked.end()) continue;
    all_healthy = all_healthy && container.health_status == "HEALTHY";
    one_unhealthy = one_unhealthy || container.health_status == "UNHEALTHY";
  }
  if (all_healthy) return Phase::Healthy;
  if (!one_unhealthy) return Phase::Settling;
  const base::Time grace_ends =
      task.started_at.value_or(input.now) +
      std::chrono::seconds(input.service.health_check_grace_period_seconds.value_or(0));
  if (grace_ends <= input.now) return Phase::Unhealthy;
  wake = std::min(wake, grace_ends);
  return Phase::Settling;
}

Phase phase_of(const Input& input, const model::Task& task, HealthChecks& checks,
               base::Time& wake) {
  if (task.waiting) return Phase::Waiting;
  if (task.last_status < model::TaskStatus::Running) return Phase::Starting;
  const std::vector<std::string>& checked = checks.of(task);
  if (!checked.empty()) return checked_phase(input, task, checked, wake);
  const base::Time settles = task.started_at.value_or(input.now) + input.options.settle;
  if (settles <= input.now) return Phase::Healthy;
  wake = std::min(wake, settles);
  return Phase::Settling;
}

bool protected_now(const Input& input, const model::Task& task, base::Time& wake) {
  if (!task.protected_until || *task.protected_until <= input.now) return false;
  wake = std::min(wake, *task.protected_until);
  return true;
}

}  // namespace

ClassifiedTasks classify(const Input& input) {
  ClassifiedTasks classified;
  const auto* const tasks = model::tasks_of(input.state, input.service);
  if (tasks == nullptr) return classified;
  HealthChecks checks(input.state);
  for (const model::TaskArn& arn : *tasks) {
    const model::Task* const task = model::find_task(input.state, arn);
    CHECK(task != nullptr);
    const auto* const instance = model::find_instance(input.state, task->instance);
    const Footing footing =
        instance == nullptr ? Footing::Firm : footing_of(input, *instance, classified.wake);
    if (task->desired_status == model::TaskStatus::Stopped) {
      if (footing == Footing::Lost) continue;
      ++classified.stopping;
      classified.stopping_of.insert(task->started_by);
      continue;
    }
    const Member member{.task = task,
                        .phase = phase_of(input, *task, checks, classified.wake),
                        .footing = footing,
                        .is_protected = protected_now(input, *task, classified.wake)};
    if (footing == Footing::Lost) {
      classified.lost.push_back(member);
    } else {
      classified.groups[task->started_by].push_back(member);
    }
  }
  return classified;
}

int32_t count_of(const std::vector<Member>& members, Phase phase) {
  return static_cast<int32_t>(std::ranges::count(members, phase, &Member::phase));
}

}  // namespace reconcile
