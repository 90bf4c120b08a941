// A group never gets more machines by its own doing than its max size, a machine is never asked for
// twice under two names, and no two machines have one: a machine is launched only when the records
// want it, and again only as one that may be there already.

#include <algorithm>
#include <map>
#include <set>

#include "sim/checkers/checkers.h"
#include "sim/world.h"

namespace sim {
namespace {

class GroupsBounded final : public Checker {
 public:
  using Checker::Checker;
  std::string_view name() const override { return "groups_bounded"; }

  void turned(const Turn& turn) override {
    look(turn.state);
    for (const control::MachineOrder& order : turn.released.machine_orders) {
      const auto* const launch = std::get_if<control::LaunchMachine>(&order);
      if (launch != nullptr) check_order(turn.state, *launch);
    }
  }
  void loaded(const model::ClusterState& state) override { look(state); }

 private:
  void look(const model::ClusterState& state) {
    std::map<std::string, std::string> groups;  // By token and by id.
    for (const auto& [name, group] : state.auto_scaling_groups) {
      int32_t alive = 0;
      bool has_new = false;
      for (const model::Machine& machine : group.machines) {
        has_new = tokens_.insert(machine.token).second || has_new;
        alive += machine.state == model::MachineState::Terminating ? 0 : 1;
        for (const std::string& key : {machine.token, machine.id}) {
          if (key.empty()) continue;
          const auto [other, first] = groups.emplace(key, name);
          if (!first) {
            fail(base::format("{} is a machine of {} and of {}", key, name, other->second));
          }
        }
      }
      if (!has_new || alive <= group.max_size) continue;
      fail(base::format("{} has {} machines, and may have {}", name, alive, group.max_size));
    }
  }

  void check_order(const model::ClusterState& state, const control::LaunchMachine& order) {
    const auto group = state.auto_scaling_groups.find(order.group);
    const bool is_wanted =
        group != state.auto_scaling_groups.end() &&
        std::ranges::find(group->second.machines, order.token, &model::Machine::token) !=
            group->second.machines.end();
    if (!is_wanted) {
      return fail(base::format("a machine of {} is launched for {}, which no record wants",
                               order.group, order.token));
    }
    if (ordered_.insert(order.token).second || order.again) return;
    fail(base::format("the machine {} of {} is asked for again as if for the first time",
                      order.token, order.group));
  }

  std::set<std::string> tokens_;   // That were ever in the records.
  std::set<std::string> ordered_;  // Tokens.
};

}  // namespace

std::unique_ptr<Checker> make_groups_bounded(World& world) {
  return std::make_unique<GroupsBounded>(world);
}

}  // namespace sim
