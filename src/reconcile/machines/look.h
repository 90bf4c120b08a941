// What the machines of an Auto Scaling group do, beside what their own records say.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/state.h"

namespace reconcile::machines {

struct Options {
  // A launched machine that no agent has registered by then is replaced.
  base::Milliseconds join_within = std::chrono::minutes(15);
  // How long the tasks of a machine that is to be ended may go on.
  // Source: ECS Developer Guide, "Safely shut down Amazon ECS workloads": 48 hours.
  base::Milliseconds drain_within = std::chrono::hours(48);
  // A machine whose agent stays away for longer is replaced.
  base::Milliseconds lost_after{600'000};
  // Of CapacityProviderReservation, which is computed once in that time.
  base::Milliseconds scaling_interval = std::chrono::minutes(1);
};

struct Look {
  // Its container instance; nullptr: none has registered, or it was deregistered.
  const model::ContainerInstance* instance = nullptr;
  bool busy = false;  // Tasks other than those of daemons are there.
  // Of those, some that no service replaces.
  bool has_standalone_tasks = false;
  base::Time lost_at = base::Time::max();  // When its agent will have been away for too long.
  base::Time source_made_at;               // When its launch configuration or template was made.
};

using InstancesByMachine = std::map<std::string_view, const model::ContainerInstance*>;
// By machine, not INACTIVE; of several the one whose agent is there, or the last. O(instances).
InstancesByMachine instances_by_machine(const model::ClusterState& state);

// Of the machine's tasks and its agent. `source_made_at` is left to the caller.
Look look_at(const model::ClusterState& state, const model::Account& account,
             const model::Machine& machine, const InstancesByMachine& instances,
             const Options& options);

}  // namespace reconcile::machines
