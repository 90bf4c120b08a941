// Mutants around what decides about task sets, and in what their clients ask for.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/mutants/mutants.h"

namespace sim {
namespace {

using reconcile::Decisions;

bool has_task_sets(const reconcile::Input& input) {
  return input.service.status == model::ServiceStatus::Active && !input.service.task_sets.empty();
}

// The service as the decisions leave it, to be altered.
model::Service& altered(const reconcile::Input& input, Decisions& decisions) {
  if (!decisions.service) decisions.service = input.service;
  return *decisions.service;
}

class DeletedSetLeavesTasks final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    if (!has_task_sets(input)) return decisions;
    for (const model::TaskSet& set : input.service.task_sets) {
      if (!set.draining) continue;
      std::erase_if(decisions.stops, [&](const reconcile::Stop& stop) {
        return model::find_task(input.state, stop.task)->started_by == set.id;
      });
      std::erase_if(altered(input, decisions).task_sets,
                    [&](const model::TaskSet& one) { return one.id == set.id; });
    }
    return decisions;
  }
};

class ScaleRoundedDown final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    if (!has_task_sets(input)) return Mutant::decide(input, random);
    model::Service rounded = input.service;
    for (model::TaskSet& set : rounded.task_sets) {
      const double down = std::floor(rounded.desired_count * set.scale_percent / 100);
      set.scale_percent = rounded.desired_count == 0 ? 0 : down * 100 / rounded.desired_count;
    }
    Decisions decisions = Mutant::decide({.state = input.state,
                                          .service = rounded,
                                          .now = input.now,
                                          .options = input.options,
                                          .fit = input.fit,
                                          .zones = input.zones,
                                          .unplaced = input.unplaced},
                                         random);
    if (!decisions.service) return decisions;
    for (model::TaskSet& set : decisions.service->task_sets) {
      const auto asked = std::ranges::find(input.service.task_sets, set.id, &model::TaskSet::id);
      set.scale_percent = asked->scale_percent;
    }
    return decisions;
  }
};

class OneMoreThanTheScale final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    if (!has_task_sets(input)) return decisions;
    for (reconcile::Start& start : decisions.starts) ++start.count;
    return decisions;
  }
};

class SecondPrimary final : public Mutant {
 public:
  Decisions decide(const reconcile::Input& input, base::Random& random) override {
    Decisions decisions = Mutant::decide(input, random);
    if (!has_task_sets(input)) return decisions;
    for (const model::TaskSet& set : input.service.task_sets) {
      if (set.primary) primary_.try_emplace(input.service.arn, set.id);
    }
    const auto first = primary_.find(input.service.arn);
    if (first == primary_.end()) return decisions;
    for (const model::TaskSet& set : input.service.task_sets) {
      if (set.id != first->second || set.primary || set.draining) continue;
      auto& sets = altered(input, decisions).task_sets;
      std::ranges::find(sets, set.id, &model::TaskSet::id)->primary = true;
    }
    return decisions;
  }

 private:
  std::map<model::ServiceArn, std::string> primary_;  // The first set that was.
};

class ForgottenTaskSetScale final : public Mutant {
 public:
  void into_driver(std::vector<control::Input>& inputs) override {
    for (control::Input& input : inputs) {
      auto* const call = std::get_if<control::ApiCall>(&input);
      if (call == nullptr) continue;
      auto* const request = call->input.get_if<api::ecs::UpdateTaskSetRequest>();
      if (request == nullptr) continue;
      const auto [first, is_first] =
          first_.emplace(request->task_set.value_or(""), *request->scale->value);
      if (!is_first) request->scale->value = first->second;
    }
  }

 private:
  std::map<std::string, double> first_;  // By set: how it was scaled first.
};

}  // namespace

std::unique_ptr<Mutant> make_deleted_set_leaves_tasks() {
  return std::make_unique<DeletedSetLeavesTasks>();
}
std::unique_ptr<Mutant> make_scale_rounded_down() {
  return std::make_unique<ScaleRoundedDown>();
}
std::unique_ptr<Mutant> make_one_more_than_the_scale() {
  return std::make_unique<OneMoreThanTheScale>();
}
std::unique_ptr<Mutant> make_second_primary() {
  return std::make_unique<SecondPrimary>();
}
std::unique_ptr<Mutant> make_forgotten_task_set_scale() {
  return std::make_unique<ForgottenTaskSetScale>();
}

}  // namespace sim
