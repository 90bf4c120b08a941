// The provider of the machines of Auto Scaling groups, with the control plane's workers before it:
// what becomes of an order, and when the process that gave it hears of it. Calls take time and
// fail; some are done although their answer says that they were not. A machine that was launched is
// there until it is ended, whatever becomes of those who asked for it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "control/step/machine_orders.h"
#include "sim/environment.h"

namespace sim {

struct ProvidedMachine {
  std::string token;
  std::string id;  // "i-m4".
  std::string group;
  base::Time made_at;
  base::Time listed_from;
  bool has_ended = false;
};

class MachineProvider {
 public:
  // To the process that gave the order; it may be dead by then.
  using Report = std::function<void(control::MachineReport)>;
  // Of the world.
  struct Hands {
    std::function<std::string(const std::string& type)> make;  // Switched off; its id.
    std::function<void(const std::string& id)> boot;
    std::function<void(const std::string& id)> end;
  };

  // `environment` outlives it. `is_used`: the world has groups.
  MachineProvider(Environment& environment, Hands hands, bool is_used)
      : environment_(environment), hands_(std::move(hands)), is_used_(is_used) {}

  bool is_used() const { return is_used_; }
  // Also those that have ended.
  const std::vector<ProvidedMachine>& machines() const { return machines_; }

  void carry_out(const control::MachineOrder& order, const Report& report);
  // `asked_at`: on the clock of the process that asks.
  void list(base::Time asked_at, const Report& report);

 private:
  void launch(const control::LaunchMachine& order, const Report& report);
  void terminate(const control::TerminateMachine& order, const Report& report);
  void answer(const Report& report, control::MachineReport what);
  void not_launched(const std::string& token, const Report& report, std::string reason);

  Environment& environment_;
  Hands hands_;
  bool is_used_;
  std::vector<ProvidedMachine> machines_;  // In the order in which they were made.
};

}  // namespace sim
