// No machine leaks, and groups become as they are wanted: once the faults have stopped, each
// machine that its provider has is one of a group's records, and each group has as many in service
// as it wants. A task that waits for a group's machines waits no longer than the limit on that.

#include <algorithm>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

constexpr base::Milliseconds machines_slack = std::chrono::seconds(2);

class MachinesKept final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "machines_kept"; }

  void turned(const Turn& turn) override {
    // Who has just loaded the state has not looked at them yet.
    if (turn.released.reloaded) return;
    const base::Milliseconds limit = world().server().settings().provisioning_limit;
    for (const auto& [cluster, tasks] : turn.state.waiting_tasks) {
      for (const model::TaskArn& arn : tasks) {
        const model::Task& task = turn.state.tasks.at(arn);
        if (task.capacity_provider == model::berth_queue) continue;
        if (task.created_at + limit + machines_slack > turn.now) continue;
        return fail(base::format("task {} waits for {} for {} s, which may be {} at most",
                                 short_name(arn.str()), task.capacity_provider,
                                 (turn.now - task.created_at).count() / 1000,
                                 limit.count() / 1000));
      }
    }
  }

  std::string awaits() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return world().provider().is_used() ? "the server does not serve" : "";
    for (const ProvidedMachine& machine : world().provider().machines()) {
      if (machine.has_ended || is_recorded(*state, machine)) continue;
      return base::format("machine {}, launched for {}, is known to no group", machine.id,
                          machine.group);
    }
    for (const auto& [name, group] : state->auto_scaling_groups) {
      const auto in_service = std::ranges::count(group.machines, model::MachineState::InService,
                                                 &model::Machine::state);
      const bool is_kept_for_tasks =
          in_service > group.desired_capacity && protects_busy(*state, name);
      if (in_service == group.desired_capacity || is_kept_for_tasks) continue;
      return base::format("{} wants {} machine(s) and has {} in service", name,
                          group.desired_capacity, in_service);
    }
    return {};
  }

  std::string awaits_end() override {
    const model::ClusterState* const state = world().server().state();
    if (state == nullptr) return {};
    for (const auto& [arn, task] : state->tasks) {
      if (!task.waiting || task.capacity_provider == model::berth_queue) continue;
      return base::format("task {} waits for {}", short_name(arn.str()), task.capacity_provider);
    }
    return {};
  }

 private:
  static bool protects_busy(const model::ClusterState& state, const std::string& group) {
    const auto provider = state.capacity_providers.find(group);
    return provider != state.capacity_providers.end() &&
           provider->second.group.managed_termination_protection ==
               api::ecs::ManagedTerminationProtection::Enabled;
  }
  static bool is_recorded(const model::ClusterState& state, const ProvidedMachine& machine) {
    return std::ranges::any_of(state.auto_scaling_groups, [&](const auto& entry) {
      return std::ranges::any_of(entry.second.machines, [&](const model::Machine& one) {
        return one.token == machine.token && one.id == machine.id;
      });
    });
  }
};

}  // namespace

std::unique_ptr<Checker> make_machines_kept(World& world) {
  return std::make_unique<MachinesKept>(world);
}

}  // namespace sim
