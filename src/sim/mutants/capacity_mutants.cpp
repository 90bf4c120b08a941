// Mutants around what decides about the queue and about groups of machines, and in what is said
// between the server and the machine provider.

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/mutants/mutants.h"

namespace sim {
namespace {

using reconcile::machines::GroupDecisions;
using reconcile::machines::GroupInput;

using Waiting = std::vector<reconcile::queue::WaitingTask>;

class GangSplit final : public Mutant {
 public:
  reconcile::queue::Outcome decide_queue(const reconcile::queue::Input& environment,
                                         const Waiting& tasks, base::Time now,
                                         const reconcile::queue::Settings& settings) override {
    Waiting alone = tasks;
    for (reconcile::queue::WaitingTask& task : alone) task.gang.clear();
    return Mutant::decide_queue(environment, alone, now, settings);
  }
};

class PriorityIgnored final : public Mutant {
 public:
  reconcile::queue::Outcome decide_queue(const reconcile::queue::Input& environment,
                                         const Waiting& tasks, base::Time now,
                                         const reconcile::queue::Settings& settings) override {
    Waiting equal = tasks;
    for (reconcile::queue::WaitingTask& task : equal) task.tags.priority = 0;
    return Mutant::decide_queue(environment, equal, now, settings);
  }
};

class LastComeFirstServed final : public Mutant {
 public:
  reconcile::queue::Outcome decide_queue(const reconcile::queue::Input& environment,
                                         const Waiting& tasks, base::Time now,
                                         const reconcile::queue::Settings& settings) override {
    Waiting turned = tasks;
    for (reconcile::queue::WaitingTask& task : turned) {
      // A deadline stays what it is.
      const base::Milliseconds waited = now - task.queued_at;
      if (!task.tags.queue_time) task.queued_at = base::Time(waited);
    }
    return Mutant::decide_queue(environment, turned, now, settings);
  }
};

class ShareIgnored final : public Mutant {
 public:
  reconcile::queue::Outcome decide_queue(const reconcile::queue::Input& environment,
                                         const Waiting& tasks, base::Time now,
                                         const reconcile::queue::Settings& settings) override {
    Waiting of_one = tasks;
    for (reconcile::queue::WaitingTask& task : of_one) task.share = "all";
    return Mutant::decide_queue(environment, of_one, now, settings);
  }
};

class DeadlineForgotten final : public Mutant {
 public:
  reconcile::queue::Outcome decide_queue(const reconcile::queue::Input& environment,
                                         const Waiting& tasks, base::Time now,
                                         const reconcile::queue::Settings& settings) override {
    reconcile::queue::Outcome outcome = Mutant::decide_queue(environment, tasks, now, settings);
    outcome.wake = base::Time::max();
    return outcome;
  }
};

class WaitingForgotten final : public Mutant {
 public:
  reconcile::queue::Outcome decide_queue(const reconcile::queue::Input& environment,
                                         const Waiting& tasks, base::Time now,
                                         const reconcile::queue::Settings& settings) override {
    Waiting known;
    for (const reconcile::queue::WaitingTask& task : tasks) {
      if (died_at_ < task.queued_at) known.push_back(task);
    }
    last_ = std::max(last_, now);
    return Mutant::decide_queue(environment, known, now, settings);
  }
  void server_died() override { died_at_ = last_; }

 private:
  base::Time last_ = base::Time::min();
  base::Time died_at_ = base::Time::min();
};

class OneMachineTooMany final : public Mutant {
 public:
  GroupDecisions decide_group(const GroupInput& input) override {
    GroupDecisions decisions = Mutant::decide_group(input);
    if (!decisions.launch_zones.empty()) {
      decisions.launch_zones.push_back(decisions.launch_zones.front());
    }
    return decisions;
  }
};

class EndedWithItsTasks final : public Mutant {
 public:
  GroupDecisions decide_group(const GroupInput& input) override {
    GroupInput hasty = input;
    hasty.drains = false;
    return Mutant::decide_group(hasty);
  }
};

class LaunchedAnew final : public Mutant {
 public:
  void out_of_driver(driver::Released& released, base::Time) override {
    for (control::MachineOrder& order : released.machine_orders) {
      if (auto* const launch = std::get_if<control::LaunchMachine>(&order)) launch->again = false;
    }
  }
};

class ListIgnored final : public Mutant {
 public:
  void into_driver(std::vector<control::Input>& inputs) override {
    std::erase_if(inputs, [](const control::Input& input) {
      const auto* const report = std::get_if<control::MachineReport>(&input);
      return report != nullptr && std::holds_alternative<control::MachinesListed>(*report);
    });
  }
};

}  // namespace

std::unique_ptr<Mutant> make_gang_split() {
  return std::make_unique<GangSplit>();
}
std::unique_ptr<Mutant> make_priority_ignored() {
  return std::make_unique<PriorityIgnored>();
}
std::unique_ptr<Mutant> make_last_come_first_served() {
  return std::make_unique<LastComeFirstServed>();
}
std::unique_ptr<Mutant> make_share_ignored() {
  return std::make_unique<ShareIgnored>();
}
std::unique_ptr<Mutant> make_deadline_forgotten() {
  return std::make_unique<DeadlineForgotten>();
}
std::unique_ptr<Mutant> make_waiting_forgotten() {
  return std::make_unique<WaitingForgotten>();
}
std::unique_ptr<Mutant> make_one_machine_too_many() {
  return std::make_unique<OneMachineTooMany>();
}
std::unique_ptr<Mutant> make_ended_with_its_tasks() {
  return std::make_unique<EndedWithItsTasks>();
}
std::unique_ptr<Mutant> make_launched_anew() {
  return std::make_unique<LaunchedAnew>();
}
std::unique_ptr<Mutant> make_list_ignored() {
  return std::make_unique<ListIgnored>();
}

}  // namespace sim
