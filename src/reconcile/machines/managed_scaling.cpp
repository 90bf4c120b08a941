#include "reconcile/machines/managed_scaling.h"

#include <algorithm>

#include "base/format.h"

namespace reconcile::machines {
namespace {

using model::MachineState;

// Defaults. Source: ECS API reference, ManagedScaling.
constexpr int32_t default_target = 100;
constexpr int32_t default_minimum_step = 1;
constexpr int32_t default_maximum_step = 10'000;
constexpr int32_t default_warm_up_s = 300;
// What a group without machines gets at first. Source: as in the header.
constexpr int64_t first_launch = 2;

struct Count {
  int64_t alive = 0;
  int64_t needed = 0;
  int64_t idle = 0;  // May go.
};

bool is_warming(const ScalingSituation& input, const model::Machine& machine) {
  if (machine.state != MachineState::InService) return true;
  const auto warm_up =
      std::chrono::seconds(input.settings.instance_warmup_period.value_or(default_warm_up_s));
  return input.now < machine.changed_at + warm_up;
}

Count count(const ScalingSituation& input) {
  Count counted;
  for (size_t i = 0; i < input.group.machines.size(); ++i) {
    const model::Machine& machine = input.group.machines[i];
    if (machine.state == MachineState::Terminating) continue;
    ++counted.alive;
    const Look& look = input.looks[i];
    if (look.busy || is_warming(input, machine) || input.waiting.used.contains(machine.token)) {
      ++counted.needed;
    } else if (input.protects_busy || !machine.scale_in_protected) {
      ++counted.idle;
    }
  }
  counted.needed += input.waiting.unasked_used + input.waiting.more;
  if (input.waiting.type_is_unknown) {  // The first machines will tell.
    counted.needed = std::max<int64_t>({counted.needed, input.group.desired_capacity, 1});
  }
  return counted;
}

// Machines so that `needed` of them are `target` percent.
int64_t for_target(int64_t needed, int64_t target) {
  return (needed * 100 + target - 1) / target;
}

}  // namespace

ScalingDecision scale(const ScalingSituation& input) {
  const model::AutoScalingGroup& group = input.group;
  const Count counted = count(input);
  const int64_t desired = group.desired_capacity;
  const int64_t there = std::max(desired, counted.alive);
  const int64_t target =
      std::clamp(input.settings.target_capacity.value_or(default_target), 1, default_target);
  ScalingDecision decision;
  decision.desired_capacity = group.desired_capacity;
  decision.reservation_percent =
      there == 0 ? (counted.needed == 0 ? 100 : 200) : counted.needed * 100 / there;
  int64_t wanted = for_target(counted.needed, target);
  if (there == 0 && wanted > 0) wanted = std::max(wanted, first_launch);
  wanted = std::clamp<int64_t>(wanted, group.min_size, std::max(group.min_size, group.max_size));

  if (wanted > desired) {
    const int64_t least = input.settings.minimum_scaling_step_size.value_or(default_minimum_step);
    const int64_t most = input.settings.maximum_scaling_step_size.value_or(default_maximum_step);
    const int64_t step = std::min(std::max(wanted - desired, least), std::max(least, most));
    decision.desired_capacity =
        static_cast<int32_t>(std::min<int64_t>(desired + step, group.max_size));
  } else if (wanted < desired) {
    decision.points_below =
        std::min(group.points_below + (input.is_point ? 1 : 0), points_to_scale_in);
    if (!input.is_point || decision.points_below < points_to_scale_in) return decision;
    // Those that are not there at all may go, too. Half of them at once at most.
    const int64_t may_go = counted.idle + (there - counted.alive);
    const int64_t step = std::min({desired - wanted, may_go, std::max<int64_t>(1, there / 2)});
    decision.desired_capacity = static_cast<int32_t>(desired - step);
  }
  if (decision.desired_capacity != group.desired_capacity) {
    decision.reason = base::format(
        "CapacityProviderReservation was {} with a target of {}: machines needed: {}, there: {}",
        decision.reservation_percent, target, counted.needed, there);
  }
  return decision;
}

}  // namespace reconcile::machines
