// Mutants around what decides about services, src/reconcile, and in what their clients ask for.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/mutants/mutants.h"

namespace sim {
namespace {

using reconcile::Decisions;

std::vector<const model::Task*> tasks_wanted(const reconcile::Input& input) {
  std::vector<const model::Task*> found;
  const auto* const tasks = model::tasks_of(input.state, input.service);
  if (tasks == nullptr) return found;
  for (const model::TaskArn& arn : *tasks) {
    const model::Task* const task = model::find_task(input.state, arn);
    if (task->desired_status != model::TaskStatus::Stopped) found.push_back(task);
  }
  return found;
}

class ForgetsStoppedTask final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    int32_t& started =
        started_[input.service.deployments.empty() ? "" : input.service.deployments.front().id];
    std::erase_if(decisions.starts,
                  [&](const reconcile::Start&) { return started >= input.service.desired_count; });
    for (const reconcile::Start& start : decisions.starts) started += start.count;
    return decisions;
  }

 private:
  std::map<std::string, int32_t> started_;  // By deployment.
};

class SettledAtOnce final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    reconcile::Input hasty = input;
    hasty.options.settle = base::Milliseconds{0};
    return Mutant::decide(hasty, random);
  }
};

class StopsBeforeReplacement final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    if (decisions.starts.empty() || !decisions.stops.empty()) return decisions;
    for (const model::Task* const task : tasks_wanted(input)) {
      if (task->started_by != decisions.starts.front().id) {
        decisions.stops.push_back({task->arn, "Its replacement starts"});
      }
    }
    return decisions;
  }
};

class BeyondTheMaximum final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    for (reconcile::Start& start : decisions.starts) start.count *= 3;
    return decisions;
  }
};

class NeverLooksAgain final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    if (died_) decisions.wake = base::Time::max();
    return decisions;
  }
  void server_died() override { died_ = true; }

 private:
  bool died_ = false;
};

class AwayIsLost final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    reconcile::Input hasty = input;
    hasty.options.lost_after = base::Milliseconds{0};
    return Mutant::decide(hasty, random);
  }
};

class RollbackNotKept final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    const bool trips = std::ranges::any_of(decisions.rollouts, [](const auto& rollout) {
      return rollout.second.breaker == api::ecs::ServiceDeploymentRollbackMonitorsStatus::Triggered;
    });
    if (!trips) return decisions;
    decisions.service.reset();
    decisions.rollouts.clear();
    return decisions;
  }
};

class DrainIgnored final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    std::erase_if(decisions.stops, [](const reconcile::Stop& stop) {
      return stop.reason.find("is DRAINING") != std::string::npos;
    });
    return decisions;
  }
};

// The call is answered as if it had been done.
class ProtectionIgnored final : public Mutant {
 public:
  void into_driver(std::vector<control::Input>& inputs) override {
    for (control::Input& input : inputs) {
      auto* const call = std::get_if<control::ApiCall>(&input);
      if (call == nullptr) continue;
      auto* const request = call->input.get_if<api::ecs::UpdateTaskProtectionRequest>();
      if (request == nullptr || !request->protection_enabled.value_or(false)) continue;
      request->protection_enabled = false;
      calls_[call->id] = request->expires_in_minutes.value_or(1);
    }
  }
  void out_of_driver(driver::Released& released, base::Time now) override {
    for (control::Reply& reply : released.replies) {
      const auto call = calls_.find(reply.id);
      if (call == calls_.end() || !reply.result) continue;
      auto* const answer = reply.result->get_if<api::ecs::UpdateTaskProtectionResponse>();
      if (answer == nullptr) continue;
      for (api::ecs::ProtectedTask& task : answer->protected_tasks) {
        task.protection_enabled = true;
        task.expiration_date = now + std::chrono::minutes(call->second);
      }
    }
  }

 private:
  std::map<control::RequestId, int32_t> calls_;
};

class ForgottenScaling final : public Mutant {
 public:
  void into_driver(std::vector<control::Input>& inputs) override {
    for (control::Input& input : inputs) {
      auto* const call = std::get_if<control::ApiCall>(&input);
      if (call == nullptr) continue;
      auto* const request = call->input.get_if<api::ecs::UpdateServiceRequest>();
      if (request == nullptr || !request->desired_count) continue;
      wanted_[call->id] = *request->desired_count;
      request->desired_count.reset();
    }
  }
  void out_of_driver(driver::Released& released, base::Time) override {
    for (control::Reply& reply : released.replies) {
      const auto call = wanted_.find(reply.id);
      if (call == wanted_.end() || !reply.result) continue;
      auto* const answer = reply.result->get_if<api::ecs::UpdateServiceResponse>();
      if (answer != nullptr) answer->service->desired_count = call->second;
    }
  }

 private:
  std::map<control::RequestId, int32_t> wanted_;
};

class PendingCountedAsRunning final : public Mutant {
 public:
  void out_of_driver(driver::Released& released, base::Time) override {
    for (control::Reply& reply : released.replies) {
      if (!reply.result) continue;
      auto* const answer = reply.result->get_if<api::ecs::DescribeServicesResponse>();
      if (answer == nullptr) continue;
      for (api::ecs::Service& service : answer->services) {
        service.running_count =
            service.running_count.value_or(0) + std::exchange(service.pending_count, 0).value_or(0);
      }
    }
  }
};

}  // namespace

std::unique_ptr<Mutant> make_forgets_stopped_task() {
  return std::make_unique<ForgetsStoppedTask>();
}
std::unique_ptr<Mutant> make_settled_at_once() {
  return std::make_unique<SettledAtOnce>();
}
std::unique_ptr<Mutant> make_stops_before_replacement() {
  return std::make_unique<StopsBeforeReplacement>();
}
std::unique_ptr<Mutant> make_beyond_the_maximum() {
  return std::make_unique<BeyondTheMaximum>();
}
std::unique_ptr<Mutant> make_never_looks_again() {
  return std::make_unique<NeverLooksAgain>();
}
std::unique_ptr<Mutant> make_away_is_lost() {
  return std::make_unique<AwayIsLost>();
}
std::unique_ptr<Mutant> make_rollback_not_kept() {
  return std::make_unique<RollbackNotKept>();
}
std::unique_ptr<Mutant> make_drain_ignored() {
  return std::make_unique<DrainIgnored>();
}
std::unique_ptr<Mutant> make_protection_ignored() {
  return std::make_unique<ProtectionIgnored>();
}
std::unique_ptr<Mutant> make_forgotten_scaling() {
  return std::make_unique<ForgottenScaling>();
}
std::unique_ptr<Mutant> make_pending_counted_as_running() {
  return std::make_unique<PendingCountedAsRunning>();
}

}  // namespace sim
