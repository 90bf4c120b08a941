#include "reconcile/backoff.h"

#include <algorithm>

namespace reconcile {
namespace {

constexpr base::Milliseconds first_wait{5'000};
constexpr base::Milliseconds longest_wait = std::chrono::minutes(15);
constexpr int32_t most_doublings = 10;  // Beyond the longest wait.

template <class Started>
Started* started_as(std::vector<Started>& all, const model::Task& task) {
  const auto found = std::ranges::find(all, task.started_by, &Started::id);
  return found == all.end() ? nullptr : &*found;
}

template <class Started>
void wait_longer(Started& started, int32_t desired_count, base::Time now) {
  ++started.failures_in_row;
  const base::Milliseconds wait = backoff(started.failures_in_row, desired_count);
  if (wait > base::Milliseconds(0)) started.start_not_before = now + wait;
}

}  // namespace

bool failed_to_start(const model::Task& stopped, base::Milliseconds settle) {
  if (stopped.stop_code != "TaskFailedToStart" && stopped.stop_code != "EssentialContainerExited") {
    return false;
  }
  if (stopped.instance.empty()) return false;  // It has only waited for capacity.
  if (!stopped.started_at) return true;
  const base::Time ended =
      stopped.execution_stopped_at.value_or(stopped.stopped_at.value_or(*stopped.started_at));
  return ended < *stopped.started_at + settle;
}

// All tasks of a service failing once is one round: the wait doubles with each.
base::Milliseconds backoff(int32_t failures_in_row, int32_t desired_count) {
  const int32_t rounds = failures_in_row / std::max(desired_count, 1);
  if (rounds == 0) return base::Milliseconds(0);
  return std::min(longest_wait, first_wait * (1 << std::min(rounds - 1, most_doublings)));
}

bool note_stopped(model::Service& service, const model::Task& stopped, const Options& options,
                  base::Time now) {
  if (!failed_to_start(stopped, options.settle)) return false;
  if (auto* const deployment = started_as(service.deployments, stopped)) {
    ++deployment->failed_tasks;
    if (deployment->rollout_state == api::ecs::DeploymentRolloutState::InProgress) {
      ++deployment->breaker_failures;
    }
    wait_longer(*deployment, service.desired_count, now);
    deployment->updated_at = now;
    return true;
  }
  if (auto* const set = started_as(service.task_sets, stopped)) {
    wait_longer(*set, service.desired_count, now);
    return true;
  }
  return false;
}

}  // namespace reconcile
