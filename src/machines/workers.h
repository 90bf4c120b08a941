// Carries orders out on threads of its own and reports what came of them. The same order twice at
// the same time is one; an order that may have been given before is looked up in the provider's
// list first. All machines are listed once at the start and then at intervals.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/queue.h"
#include "base/time.h"
#include "control/step/machine_orders.h"
#include "machines/provider.h"

namespace machines {

struct WorkersOptions {
  size_t workers = 4;
};

class MachineWorkers {
 public:
  // Called on a thread of its own.
  using Report = std::function<void(control::MachineReport)>;

  // `clock` outlives it. Orders wait until start().
  MachineWorkers(base::Clock& clock, Report report, WorkersOptions options = {});
  ~MachineWorkers();  // Does stop().
  MachineWorkers(const MachineWorkers&) = delete;
  MachineWorkers& operator=(const MachineWorkers&) = delete;

  // Once.
  void start(std::unique_ptr<MachineProvider> provider);
  // Any thread.
  void push(control::MachineOrder order) { inbox_.push(std::move(order)); }
  // Cancels what is under way, without a report, joins all threads and lets the provider go.
  void stop();

 private:
  struct ListMachines {};
  using Work = std::variant<control::MachineOrder, ListMachines>;
  struct Done {
    std::string key;  // Of the work.
    std::optional<control::MachineReport> report;
  };

  static std::string key_of(const Work& work);
  void dispatch();
  void hand_out(Work work);
  void work();
  std::optional<control::MachineReport> perform(const Work& work);
  std::optional<control::MachineReport> perform_one(const control::LaunchMachine& order);
  std::optional<control::MachineReport> perform_one(const control::TerminateMachine& order);
  std::optional<control::MachineReport> perform_list();

  static constexpr size_t capacity = size_t{1} << 16;

  base::Clock& clock_;
  const Report report_;
  const WorkersOptions options_;
  std::unique_ptr<MachineProvider> provider_;
  base::Queue<std::variant<control::MachineOrder, Done>> inbox_{capacity};
  base::Queue<Work> works_{capacity};
  std::set<std::string> under_way_;  // Keys; the dispatcher's.
  std::vector<std::thread> threads_;
};

}  // namespace machines
