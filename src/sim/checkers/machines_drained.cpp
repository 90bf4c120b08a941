// A machine of a group is not ended while tasks are on it, before the time is over that they have
// to end or to be replaced; unless its capacity provider does without draining, or the group is
// deleted.

#include <algorithm>

#include "sim/checkers/checkers.h"
#include "sim/checkers/service_view.h"
#include "sim/world.h"

namespace sim {
namespace {

class MachinesDrained final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "machines_drained"; }

  void turned(const Turn& turn) override {
    for (const control::MachineOrder& order : turn.released.machine_orders) {
      const auto* const end = std::get_if<control::TerminateMachine>(&order);
      if (end != nullptr) check(turn, *end);
    }
  }

 private:
  void check(const Turn& turn, const control::TerminateMachine& order) {
    const auto group = turn.state.auto_scaling_groups.find(order.group);
    if (group == turn.state.auto_scaling_groups.end() || group->second.deleting) return;
    const auto machine = std::ranges::find(group->second.machines, order.id, &model::Machine::id);
    // One that nobody wanted is ended as soon as it is found.
    if (machine == group->second.machines.end() || !is_drained_first(turn.state, order.group)) {
      return;
    }
    const control::Settings& settings = world().server().settings();
    if (machine->changed_at + settings.machines.drain_within <= turn.now) return;
    for (const auto& [arn, task] : turn.state.tasks) {
      if (task.last_status == model::TaskStatus::Stopped || is_of_daemon(turn.state, task)) {
        continue;
      }
      const auto* const instance = model::find_instance(turn.state, task.instance);
      if (instance == nullptr || instance->ec2_instance_id != order.id ||
          instance->status == model::InstanceStatus::Inactive) {
        continue;
      }
      if (was_left_behind(turn.state, *instance)) continue;
      const bool is_replaced = !model::service_of(task).empty() &&
                               is_on_lost_instance(turn.state, settings, task, turn.now);
      if (is_replaced) continue;
      return fail(
          base::format("machine {} of {} is ended {} s after its end was decided, and task "
                       "{} is {} on it",
                       order.id, order.group, (turn.now - machine->changed_at).count() / 1000,
                       short_name(arn.str()), model::to_string(task.last_status)));
    }
  }

  // Its machine has lost its disk and has registered anew: what was there is gone.
  static bool was_left_behind(const model::ClusterState& state,
                              const model::ContainerInstance& instance) {
    return std::ranges::any_of(state.instances, [&](const auto& entry) {
      const model::ContainerInstance& other = entry.second;
      return other.ec2_instance_id == instance.ec2_instance_id &&
             other.status != model::InstanceStatus::Inactive &&
             other.registered_at > instance.registered_at;
    });
  }

  static bool is_of_daemon(const model::ClusterState& state, const model::Task& task) {
    return std::ranges::any_of(state.services, [&](const auto& entry) {
      const model::Service& service = entry.second;
      return service.name == model::service_of(task) &&
             service.scheduling == api::ecs::SchedulingStrategy::Daemon;
    });
  }

  static bool is_drained_first(const model::ClusterState& state, const std::string& group) {
    const auto provider = state.capacity_providers.find(group);
    return provider == state.capacity_providers.end() ||
           provider->second.group.managed_draining != api::ecs::ManagedDraining::Disabled;
  }
};

}  // namespace

std::unique_ptr<Checker> make_machines_drained(World& world) {
  return std::make_unique<MachinesDrained>(world);
}

}  // namespace sim
