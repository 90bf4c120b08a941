#include "reconcile/queue/kept_clear.h"

#include <algorithm>
#include <tuple>

namespace reconcile::queue {
namespace {

bool is_held_whole(const model::ContainerInstance& instance) {
  if (instance.gpus.size() < 2) return false;
  return std::ranges::all_of(instance.gpus, [&](const model::GpuSlot& slot) {
    return slot.state == model::GpuState::Dedicated && slot.holders.size() == 1 &&
           slot.holders.front().task == instance.gpus.front().holders.front().task;
  });
}

bool takes_whole(const Requirements& need, size_t gpus) {
  return need.demand.all_gpus || need.demand.whole_gpus == static_cast<int32_t>(gpus);
}

}  // namespace

size_t most_held_whole(const model::ClusterState& state, const model::ClusterName& cluster) {
  size_t most = 0;
  for (const auto& [arn, instance] : state.instances) {
    if (instance.cluster != cluster || instance.gpus.size() <= most) continue;
    if (!is_held_whole(instance)) continue;
    const model::TaskArn& holder = instance.gpus.front().holders.front().task;
    const model::Task* const task = model::find_task(state, holder);
    if (task != nullptr && model::service_of(*task).empty()) most = instance.gpus.size();
  }
  return most;
}

std::vector<size_t> timelines_to_keep_clear(std::vector<Timeline>& timelines, size_t gpus,
                                            size_t count, base::Time now) {
  Requirements whole;
  whole.demand.whole_gpus = static_cast<int32_t>(gpus);
  std::vector<std::tuple<int64_t, int64_t, base::Time, size_t>> order;
  for (size_t i = 0; i < timelines.size(); ++i) {
    const model::ContainerInstance& instance = timelines[i].instance();
    if (instance.status != model::InstanceStatus::Active || !instance.agent_connected ||
        instance.gpus.size() != gpus || is_held_whole(instance)) {
      continue;
    }
    order.emplace_back(-instance.cpu_units, -instance.memory_mib,
                       timelines[i].obstacles_to(whole, now).youngest, i);
  }
  std::ranges::sort(order);
  std::vector<size_t> chosen;
  for (size_t i = 0; i < std::min(count, order.size()); ++i) {
    chosen.push_back(std::get<size_t>(order[i]));
  }
  return chosen;
}

bool stays_off_clear(const Unit& unit, size_t gpus, base::Time now, base::Milliseconds longest) {
  return !unit.max_run && now < unit.queued_at + longest &&
         !std::ranges::all_of(
             unit.members,
             [&](const WaitingTask* member) { return takes_whole(*member->need, gpus); });
}

}  // namespace reconcile::queue
