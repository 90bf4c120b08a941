#include "control/capacity/admission.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "control/capacity/gang.h"
#include "control/capacity/wait_detail.h"
#include "control/capacity/waiting.h"
#include "control/request/errors.h"

namespace control {
namespace {

bool somebody_queues(const model::ClusterState& state, const model::ClusterName& cluster) {
  const auto waiting = state.waiting_tasks.find(cluster);
  return waiting != state.waiting_tasks.end() &&
         std::ranges::any_of(waiting->second, [&](const model::TaskArn& arn) {
           return !waits_for_group(state.tasks.at(arn));
         });
}

}  // namespace

size_t provisioning_room(const model::ClusterState& state, const model::ClusterName& cluster) {
  const size_t waiting = count_waiting_for_groups(state, cluster);
  return most_waiting_for_groups - std::min(waiting, most_waiting_for_groups);
}

std::string quota_sentence(size_t waiting) {
  return base::format(
      "The limit on tasks in the PROVISIONING state is reached: {} of the cluster's tasks wait for "
      "capacity of Auto Scaling groups, and {} may. Wait until some are placed, stop some, or use "
      "the capacity provider {}, which has no limit.",
      waiting, most_waiting_for_groups, model::berth_queue);
}

base::Result<void> check_provisioning_quota(const Step& step, const model::ClusterName& cluster,
                                            const Strategy& strategy, size_t count) {
  const bool groups = std::ranges::any_of(
      strategy, [](const auto& item) { return item.capacity_provider != model::berth_queue; });
  if (!groups) return {};
  const size_t room = provisioning_room(step.state(), cluster);
  if (count <= room) return {};
  return client_error(quota_sentence(most_waiting_for_groups - room));
}

const model::Task& admit_task(Step& step, TaskPlan& plan, const std::string& capacity_provider) {
  plan.request.capacity_provider = capacity_provider;
  plan.task.capacity_provider = capacity_provider;
  const bool in_line =
      capacity_provider == model::berth_queue &&
      (!gang_of(plan.task).empty() || somebody_queues(step.state(), plan.task.cluster));
  if (in_line) return queue_planned_task(step, plan, capacity_provider);
  auto placed = step.engine.place(step.state(), plan.request, step.random);
  if (placed) return start_planned_task(step, plan, std::move(*placed));
  const model::Task& task = queue_planned_task(step, plan, capacity_provider);
  const placement::Refusal& refusal = placed.error().front();
  note_wait(step, task, refusal.reason, wait_detail(step, plan.request, refusal));
  return task;
}

}  // namespace control
