// What the control plane asks of the machine provider, and what it hears back.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "base/time.h"

namespace control {

// The same token is the same machine, however often it is asked for.
struct LaunchMachine {
  std::string group;
  std::string token;  // Letters, digits and "-", 64 at most.
  std::string instance_type;
  std::string availability_zone;
  std::string user_data;  // As the launch configuration or template has it: base64, as a rule.
  std::map<std::string, std::string> tags;  // Those that the group propagates at launch.
  // It may have been asked for before, by a control plane that did not live to hear the answer.
  bool again = false;
};
struct TerminateMachine {
  std::string group;
  std::string id;
};
// Given again after a restart, until it was reported on.
using MachineOrder = std::variant<LaunchMachine, TerminateMachine>;

struct MachineLaunched {
  std::string token;
  std::string id;  // As its container instance will name it: ec2InstanceId.
};
struct MachineNotLaunched {
  std::string token;
  std::string reason;  // For people: what the provider said.
};
struct MachineTerminated {
  std::string id;
};
struct MachineNotTerminated {
  std::string id;
  std::string reason;
};
struct ListedMachine {
  std::string token;
  std::string id;
};
// All machines that the provider had at `asked_at`; one that was launched less than `listed_after`
// before may be missing.
struct MachinesListed {
  base::Time asked_at;
  std::vector<ListedMachine> machines;
  base::Milliseconds listed_after{60'000};
};
using MachineReport = std::variant<MachineLaunched, MachineNotLaunched, MachineTerminated,
                                   MachineNotTerminated, MachinesListed>;

}  // namespace control
