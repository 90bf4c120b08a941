#include "reconcile/machines/termination.h"

#include <algorithm>
#include <map>
#include <string>

namespace reconcile::machines {
namespace {

using Candidates = std::vector<size_t>;

class Choice {
 public:
  Choice(const model::AutoScalingGroup& group, const std::vector<Look>& looks, base::Time now)
      : group_(group), looks_(looks), now_(now) {}

  size_t first_of(Candidates candidates) const {
    keep_least(candidates, [&](size_t i) { return hold(i); });
    keep_fullest_zone(candidates);
    for (const std::string& policy : group_.termination_policies) apply(policy, candidates);
    if (group_.termination_policies.empty()) apply("Default", candidates);
    keep_least(candidates, [&](size_t i) { return group_.machines[i].created_at; });
    return candidates.front();
  }

 private:
  // How much would be lost with it.
  int hold(size_t i) const {
    if (group_.machines[i].state == model::MachineState::Wanted) return 0;
    if (group_.machines[i].state == model::MachineState::Pending) return 1;
    return looks_[i].busy ? 3 : 2;
  }

  template <class Rank>
  static void keep_least(Candidates& candidates, Rank&& rank) {
    auto least = rank(candidates.front());
    for (const size_t one : candidates) least = std::min(least, rank(one));
    std::erase_if(candidates, [&](size_t one) { return rank(one) != least; });
  }

  void keep_fullest_zone(Candidates& candidates) const {
    std::map<std::string, int> machines;
    for (const model::Machine& one : group_.machines) {
      if (one.state != model::MachineState::Terminating) ++machines[one.availability_zone];
    }
    keep_least(candidates,
               [&](size_t i) { return -machines[group_.machines[i].availability_zone]; });
  }

  base::Milliseconds until_next_hour(size_t i) const {
    constexpr base::Milliseconds hour = std::chrono::hours(1);
    return hour - (now_ - group_.machines[i].created_at) % hour;
  }

  void apply(const std::string& policy, Candidates& candidates) const {
    const auto created_at = [&](size_t i) { return group_.machines[i].created_at; };
    const auto source_made_at = [&](size_t i) { return looks_[i].source_made_at; };
    if (policy == "OldestInstance") {
      keep_least(candidates, created_at);
    } else if (policy == "NewestInstance") {
      keep_least(candidates, [&](size_t i) { return -created_at(i).time_since_epoch(); });
    } else if (policy == "OldestLaunchConfiguration" || policy == "OldestLaunchTemplate") {
      keep_least(candidates, source_made_at);
    } else if (policy == "ClosestToNextInstanceHour") {
      keep_least(candidates, [&](size_t i) { return until_next_hour(i); });
    } else if (policy == "Default") {
      keep_least(candidates, source_made_at);
      keep_least(candidates, [&](size_t i) { return until_next_hour(i); });
    }
  }

  const model::AutoScalingGroup& group_;
  const std::vector<Look>& looks_;
  const base::Time now_;
};

}  // namespace

std::vector<size_t> first_to_go(const model::AutoScalingGroup& group,
                                const std::vector<Look>& looks, bool protects_busy, size_t count,
                                base::Time now) {
  Candidates candidates;
  for (size_t i = 0; i < group.machines.size(); ++i) {
    const model::Machine& machine = group.machines[i];
    const bool in_service =
        machine.state == model::MachineState::InService || looks[i].instance != nullptr;
    const bool stays = machine.state == model::MachineState::Terminating ||
                       (in_service && (protects_busy ? looks[i].busy : machine.scale_in_protected));
    if (!stays) candidates.push_back(i);
  }
  std::vector<size_t> going;
  model::AutoScalingGroup left = group;  // Zones are counted without those that go.
  while (going.size() < count && !candidates.empty()) {
    const size_t next = Choice(left, looks, now).first_of(candidates);
    left.machines[next].state = model::MachineState::Terminating;
    std::erase(candidates, next);
    going.push_back(next);
  }
  return going;
}

}  // namespace reconcile::machines
