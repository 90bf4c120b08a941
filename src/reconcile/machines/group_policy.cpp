#include "reconcile/machines/group_policy.h"

#include <algorithm>
#include <map>

#include "base/format.h"
#include "reconcile/machines/draining.h"
#include "reconcile/machines/termination.h"

namespace reconcile::machines {
namespace {

using model::MachineState;

// The others follow at once: everybody else waits for the step that launches them.
constexpr size_t most_launched_a_look = 100;

class Keeping {
 public:
  explicit Keeping(const GroupInput& input) : situation_(input) {
    for (const model::Machine& machine : input.group.machines) {
      going_.push_back(machine.state == MachineState::Terminating);
    }
  }

  GroupDecisions run() {
    const auto& machines = situation_.group.machines;
    for (size_t i = 0; i < machines.size(); ++i) look_at_one(i);
    if (situation_.group.deleting) {
      delete_all();
    } else if (alive() < wanted()) {
      launch(wanted() - alive());
    } else if (alive() > wanted()) {
      end_surplus(alive() - wanted());
    }
    return std::move(decisions_);
  }

 private:
  const model::Machine& machine(size_t i) const { return situation_.group.machines[i]; }

  size_t alive() const { return static_cast<size_t>(std::ranges::count(going_, false)); }
  size_t wanted() const {
    const model::AutoScalingGroup& group = situation_.group;
    return static_cast<size_t>(std::max(0, std::clamp(group.desired_capacity, group.min_size,
                                                      std::max(group.min_size, group.max_size))));
  }

  void wake_at(base::Time time) { decisions_.wake = std::min(decisions_.wake, time); }

  void end(size_t i, Why why, std::string reason) {
    going_[i] = true;
    decisions_.ends.push_back({.machine = i, .why = why, .reason = std::move(reason)});
  }

  void look_at_one(size_t i) {
    const Look& look = situation_.looks[i];
    switch (machine(i).state) {
      case MachineState::Wanted:
        return;
      case MachineState::Pending:
        if (look.instance != nullptr) {
          decisions_.joined.push_back(i);
        } else {
          end_if_never_joined(i);
        }
        return;
      case MachineState::InService:
        end_if_unhealthy(i, look);
        return;
      case MachineState::Terminating:
        if (machine(i).id.empty()) return;  // Its launch is still under way.
        if (!situation_.drains ||
            is_drained(machine(i), look, situation_.options, situation_.now, decisions_.wake)) {
          decisions_.drained.push_back(i);
        }
        return;
    }
  }

  void end_if_never_joined(size_t i) {
    const base::Time at = machine(i).changed_at + situation_.options.join_within;
    if (at > situation_.now) return wake_at(at);
    end(i, Why::NeverJoined,
        base::format(
            "no agent has registered it within {} s of its launch: look at its agent's "
            "log and at the cluster and the key that it was given",
            std::chrono::duration_cast<std::chrono::seconds>(situation_.options.join_within)
                .count()));
  }

  void end_if_unhealthy(size_t i, const Look& look) {
    const base::Time bad_at =
        !machine(i).healthy || look.instance == nullptr ? base::Time() : look.lost_at;
    if (bad_at == base::Time::max()) return;
    const base::Time at =
        std::max(bad_at, machine(i).changed_at +
                             std::chrono::seconds(situation_.group.health_check_grace_s));
    if (at > situation_.now) return wake_at(at);
    end(i, Why::Unhealthy,
        look.instance == nullptr ? "its container instance was deregistered"
        : !machine(i).healthy    ? "it was set unhealthy"
                                 : "its agent stays away");
  }

  void delete_all() {
    for (size_t i = 0; i < going_.size(); ++i) {
      if (!going_[i]) end(i, Why::GroupDeleted, "its group is being deleted");
    }
    decisions_.forget = going_.empty();
  }

  // Each goes where there are the fewest.
  void launch(size_t count) {
    const model::AutoScalingGroup& group = situation_.group;
    // The wait that follows a machine which never joined is for the next look.
    if (std::ranges::find(decisions_.ends, Why::NeverJoined, &End::why) != decisions_.ends.end()) {
      return;
    }
    if (group.launch_not_before && *group.launch_not_before > situation_.now) {
      return wake_at(*group.launch_not_before);
    }
    std::map<std::string, size_t> machines;
    for (const std::string& zone : group.availability_zones) machines[zone] = 0;
    if (machines.empty()) machines[""] = 0;
    for (size_t i = 0; i < going_.size(); ++i) {
      const auto zone = machines.find(machine(i).availability_zone);
      if (!going_[i] && zone != machines.end()) ++zone->second;
    }
    if (count > most_launched_a_look) wake_at(situation_.now + base::Milliseconds{1});
    for (size_t i = 0; i < std::min(count, most_launched_a_look); ++i) {
      const auto emptiest =
          std::ranges::min_element(machines, {}, [](const auto& zone) { return zone.second; });
      decisions_.launch_zones.push_back(emptiest->first);
      ++emptiest->second;
    }
  }

  void end_surplus(size_t count) {
    model::AutoScalingGroup left = situation_.group;
    for (const End& one : decisions_.ends) {
      left.machines[one.machine].state = MachineState::Terminating;
    }
    for (const size_t i :
         first_to_go(left, situation_.looks, situation_.protects_busy, count, situation_.now)) {
      end(i, Why::Surplus, "the desired capacity was lowered");
    }
  }

  const GroupInput& situation_;
  std::vector<bool> going_;
  GroupDecisions decisions_;
};

}  // namespace

GroupDecisions decide_group(const GroupInput& input) {
  return Keeping(input).run();
}

}  // namespace reconcile::machines
