// Keeps a group at its desired capacity: which machines to launch, which to end, and why. A pure
// function of the group, what its machines do, and the time.
// Source: EC2 Auto Scaling User Guide, "Set scaling limits" and "Health checks for instances in an
// Auto Scaling group".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reconcile/machines/look.h"

namespace reconcile::machines {

struct GroupInput {
  const model::AutoScalingGroup& group;
  const std::vector<Look>& looks;  // Of group.machines, in their order.
  base::Time now;
  Options options;
  bool drains = true;          // Managed draining.
  bool protects_busy = false;  // Managed termination protection.
};

enum class Why : uint8_t {
  Surplus,      // More machines than the desired capacity.
  Unhealthy,    // Its agent stays away, or its container instance was deregistered.
  NeverJoined,  // Launched, and no agent has registered it.
  GroupDeleted,
};

struct End {
  size_t machine = 0;  // Index.
  Why why = Why::Surplus;
  std::string reason;  // One sentence.
};

struct GroupDecisions {
  std::vector<size_t> joined;             // Pending, and their agents have registered them.
  std::vector<End> ends;                  // To be Terminating from now on.
  std::vector<size_t> drained;            // Terminating, and may be ended by their provider.
  std::vector<std::string> launch_zones;  // One a machine to be launched.
  bool forget = false;                    // The group is deleted, and its last machine is gone.
  base::Time wake = base::Time::max();    // When time alone may change the answer.
};

GroupDecisions decide_group(const GroupInput& input);

}  // namespace reconcile::machines
