// Where the machines of Auto Scaling groups come from: the edge behind which they are made and
// ended. `exec` runs the operator's programs, `emulated` makes them up on this machine, `none`
// refuses; fake.h is for tests.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "control/step/machine_orders.h"

namespace machines {

// Calls block, and come from several threads at once, never two for the same machine.
class MachineProvider {
 public:
  virtual ~MachineProvider() = default;

  // The id of the machine of that token, which is launched by this call or was by an earlier one.
  // Errors: any code; the message is for people.
  virtual base::Result<std::string> launch(const control::LaunchMachine& order) = 0;
  // No such machine (any more) is a success.
  virtual base::Result<void> terminate(const control::TerminateMachine& order) = 0;
  // All machines, those included that are launching or ending.
  virtual base::Result<std::vector<control::ListedMachine>> list() = 0;
  // How often list() is worth a call, and how long after its launch a machine may still be missing
  // from it.
  struct ListTimes {
    base::Milliseconds interval = std::chrono::minutes(1);
    base::Milliseconds listed_after = std::chrono::minutes(1);
  };
  virtual ListTimes list_times() const { return {}; }
  // From now on every call ends soon, with the code "Cancelled" unless it was done by then.
  virtual void cancel() = 0;
};

}  // namespace machines
