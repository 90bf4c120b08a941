// The machines of Auto Scaling groups, and what a new one is made from.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "model/state.h"

namespace control {

// The capacity provider over the group that the machine is of; empty: it is of no group, or no
// capacity provider names its group. Cost: O(machines of all groups).
std::string provider_of_machine(const model::ClusterState& state, std::string_view machine_id);

// The capacity provider that names the group; nullptr when there is none.
const model::CapacityProvider* provider_of_group(const model::ClusterState& state,
                                                 const model::AutoScalingGroup& group);
// The group that the capacity provider names; nullptr when it is gone.
const model::AutoScalingGroup* group_of_provider(const model::ClusterState& state,
                                                 const model::CapacityProvider& provider);

// What the next machine of a group is made from: its launch configuration, or that version of its
// launch template which "$Latest", "$Default" or a number names now.
struct LaunchSource {
  std::string name;     // Of the launch configuration or the template.
  std::string version;  // Of the template, a number.
  std::string instance_type;
  std::string user_data;
  friend bool operator==(const LaunchSource&, const LaunchSource&) = default;
};
// nullopt: the configuration, the template or that version does not exist any more.
std::optional<LaunchSource> launch_source(const model::ClusterState& state,
                                          const model::AutoScalingGroup& group);

// When that which the machine was made from was made; the beginning of time when it is gone.
base::Time launch_source_made_at(const model::ClusterState& state, const model::Machine& machine);

}  // namespace control
