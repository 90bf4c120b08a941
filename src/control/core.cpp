#include "control/core.h"

#include <algorithm>

#include "auth/permission.h"
#include "control/agents/agent_keys.h"
#include "control/agents/sessions.h"
#include "control/capacity/groups/controller.h"
#include "control/capacity/waiting_scheduler.h"
#include "control/expiry.h"
#include "control/placement_policies.h"
#include "control/services/scheduler.h"
#include "control/step/action.h"

namespace control {
namespace {

// Observers that answer each other's changes for ever are a mistake in them.
constexpr size_t most_rounds = 100;

// Restricted keys are held here to their operations, and by each operation to what is their own.
base::Result<api::Any> answer(Step& step, const ApiCall& call) {
  step.caller.access = TRY(current_access(step));
  TRY_VOID(auth::allow(step.caller,
                       {.service = step.caller.service, .operation = call.action->operation}));
  return call.action->call(step, call.input);
}

}  // namespace

Core::Core(model::ClusterState state, Settings settings, uint64_t seed, base::Time now)
    : state_(std::move(state)), settings_(std::move(settings)), random_(seed) {
  // Each sees at once what those before it have changed: policies before anything is placed by
  // them, services before the tasks that they may let wait, those before the machines for them.
  observers_.push_back(std::make_unique<PlacementPolicies>(state_, engine_));
  observers_.push_back(std::make_unique<Expiry>(now));
  observers_.push_back(std::make_unique<Sessions>(state_, settings_, now));
  observers_.push_back(std::make_unique<ServiceScheduler>(state_, now));
  observers_.push_back(std::make_unique<WaitingScheduler>(state_, now));
  observers_.push_back(std::make_unique<GroupController>(state_, settings_, now));
  engine_.reset(state_);
}

Output Core::step(Input input, base::Time now) {
  Output output;
  Step step(state_, engine_, random_, settings_, queue_notes_, refused_claims_, now, output);
  if (auto* const call = std::get_if<ApiCall>(&input)) {
    step.caller = std::move(call->caller);
    step.remote_host = std::move(call->remote_host);
    output.replies.push_back({call->id, answer(step, *call)});
  } else {
    for (const auto& observer : observers_) observer->take(step, input);
  }
  run_observers(step);
  return output;
}

void Core::run_observers(Step& step) {
  const std::vector<model::Change>& changes = step.changes();
  std::vector<size_t> seen(observers_.size());
  bool again = true;
  for (size_t round = 0; again; ++round) {
    CHECK(round < most_rounds);
    again = false;
    for (size_t i = 0; i < observers_.size(); ++i) {
      const size_t before = changes.size();
      for (size_t next = seen[i]; next < before; ++next) {
        observers_[i]->observe(step, changes[next]);
      }
      if (round == 0) observers_[i]->tick(step);
      seen[i] = changes.size();  // What it has changed itself is news to the others only.
      again = again || seen[i] > before;
    }
  }
}

base::Time Core::next_timer() const {
  base::Time next = base::Time::max();
  for (const auto& observer : observers_) next = std::min(next, observer->next_tick());
  return next;
}

}  // namespace control
