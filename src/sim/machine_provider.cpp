#include "sim/machine_provider.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace sim {
namespace {

using std::chrono::seconds;

constexpr std::string_view provider_name = "provider";
constexpr base::Milliseconds soonest{10};

}  // namespace

void MachineProvider::carry_out(const control::MachineOrder& order, const Report& report) {
  environment_.events.after(environment_.between(soonest, seconds(2)), [this, order, report] {
    if (const auto* const asked = std::get_if<control::LaunchMachine>(&order)) {
      launch(*asked, report);
    } else {
      terminate(std::get<control::TerminateMachine>(order), report);
    }
  });
}

void MachineProvider::answer(const Report& report, control::MachineReport what) {
  environment_.events.after(environment_.between(soonest, seconds(20)),
                            [report, what = std::move(what)] { report(what); });
}

void MachineProvider::not_launched(const std::string& token, const Report& report,
                                   std::string reason) {
  environment_.tell(provider_name, "launch {}: {}", token.substr(token.size() - 8), reason);
  answer(report, control::MachineNotLaunched{token, std::move(reason)});
}

// The same token is the same machine, for as long as it is there.
void MachineProvider::launch(const control::LaunchMachine& order, const Report& report) {
  auto machine = std::ranges::find_if(machines_, [&](const ProvidedMachine& one) {
    return one.token == order.token && !one.has_ended;
  });
  if (machine == machines_.end()) {
    if (environment_.inject(environment_.rates.launch_fails)) {
      return not_launched(order.token, report, "no machine is left");
    }
    const std::string id = hands_.make(order.instance_type);
    environment_.tell(provider_name, "{} is launched for {} ({})", id, order.group,
                      order.token.substr(order.token.size() - 8));
    const base::Time now = environment_.events.now();
    machines_.push_back(
        {.token = order.token,
         .id = id,
         .group = order.group,
         .made_at = now,
         .listed_from = now + environment_.between(base::Milliseconds{0},
                                                   environment_.rates.longest_unlisted)});
    machine = std::prev(machines_.end());
    if (!environment_.inject(environment_.rates.never_joins)) {
      environment_.events.after(environment_.between(seconds(2), environment_.rates.longest_boot),
                                [this, id] { hands_.boot(id); });
    }
  }
  if (environment_.inject(environment_.rates.provider_unsure)) {
    return not_launched(order.token, report, "no answer, though it is there");
  }
  answer(report, control::MachineLaunched{order.token, machine->id});
}

void MachineProvider::terminate(const control::TerminateMachine& order, const Report& report) {
  const auto machine = std::ranges::find(machines_, order.id, &ProvidedMachine::id);
  const bool is_there = machine != machines_.end() && !machine->has_ended;
  if (is_there && environment_.inject(environment_.rates.end_fails)) {
    environment_.tell(provider_name, "{} cannot be ended now", order.id);
    return answer(report, control::MachineNotTerminated{order.id, "it is stuck"});
  }
  if (is_there) {
    machine->has_ended = true;
    hands_.end(order.id);
  }
  if (environment_.inject(environment_.rates.provider_unsure)) {
    return answer(report, control::MachineNotTerminated{order.id, "no answer"});
  }
  answer(report, control::MachineTerminated{order.id});
}

void MachineProvider::list(base::Time asked_at, const Report& report) {
  environment_.events.after(environment_.between(soonest, seconds(2)), [this, asked_at, report] {
    if (environment_.inject(environment_.rates.list_fails)) return;
    control::MachinesListed listed{.asked_at = asked_at, .machines = {}};
    for (const ProvidedMachine& machine : machines_) {
      if (machine.has_ended || machine.listed_from > environment_.events.now()) continue;
      listed.machines.push_back({machine.token, machine.id});
    }
    answer(report, std::move(listed));
  });
}

}  // namespace sim
