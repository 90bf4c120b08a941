// Planted around what decides about task sets, and in what their owners ask for.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sim/planted/planted.h"

namespace sim {
namespace {

using reconcile::Decisions;
using reconcile::Situation;

bool has_task_sets(const Situation& situation) {
  return situation.service.status == model::ServiceStatus::Active &&
         !situation.service.task_sets.empty();
}

// The service as the decisions leave it, to be altered.
model::Service& altered(const Situation& situation, Decisions& decisions) {
  if (!decisions.service) decisions.service = situation.service;
  return *decisions.service;
}

class DeletedSetLeavesTasks final : public Plant {
 public:
  Decisions decide(const Situation& situation, base::Random& random) override {
    Decisions decisions = Plant::decide(situation, random);
    if (!has_task_sets(situation)) return decisions;
    for (const model::TaskSet& set : situation.service.task_sets) {
      if (!set.draining) continue;
      std::erase_if(decisions.stops, [&](const reconcile::Stop& stop) {
        return model::find_task(situation.state, stop.task)->started_by == set.id;
      });
      std::erase_if(altered(situation, decisions).task_sets,
                    [&](const model::TaskSet& one) { return one.id == set.id; });
    }
    return decisions;
  }
};

class ScaleRoundedDown final : public Plant {
 public:
  Decisions decide(const Situation& situation, base::Random& random) override {
    if (!has_task_sets(situation)) return Plant::decide(situation, random);
    model::Service rounded = situation.service;
    for (model::TaskSet& set : rounded.task_sets) {
      const double down = std::floor(rounded.desired_count * set.scale_percent / 100);
      set.scale_percent = rounded.desired_count == 0 ? 0 : down * 100 / rounded.desired_count;
    }
    Decisions decisions = Plant::decide({.state = situation.state,
                                         .service = rounded,
                                         .now = situation.now,
                                         .options = situation.options,
                                         .fit = situation.fit,
                                         .zones = situation.zones,
                                         .unplaced = situation.unplaced},
                                        random);
    if (!decisions.service) return decisions;
    for (model::TaskSet& set : decisions.service->task_sets) {
      const auto asked =
          std::ranges::find(situation.service.task_sets, set.id, &model::TaskSet::id);
      set.scale_percent = asked->scale_percent;
    }
    return decisions;
  }
};

class OneMoreThanTheScale final : public Plant {
 public:
  Decisions decide(const Situation& situation, base::Random& random) override {
    Decisions decisions = Plant::decide(situation, random);
    if (!has_task_sets(situation)) return decisions;
    for (reconcile::Start& start : decisions.starts) ++start.count;
    return decisions;
  }
};

class SecondPrimary final : public Plant {
 public:
  Decisions decide(const Situation& situation, base::Random& random) override {
    Decisions decisions = Plant::decide(situation, random);
    if (!has_task_sets(situation)) return decisions;
    for (const model::TaskSet& set : situation.service.task_sets) {
      if (set.primary) primary_.try_emplace(situation.service.arn, set.id);
    }
    const auto first = primary_.find(situation.service.arn);
    if (first == primary_.end()) return decisions;
    for (const model::TaskSet& set : situation.service.task_sets) {
      if (set.id != first->second || set.primary || set.draining) continue;
      auto& sets = altered(situation, decisions).task_sets;
      std::ranges::find(sets, set.id, &model::TaskSet::id)->primary = true;
    }
    return decisions;
  }

 private:
  std::map<model::ServiceArn, std::string> primary_;  // The first set that was.
};

class ForgottenTaskSetScale final : public Plant {
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

std::unique_ptr<Plant> make_deleted_set_leaves_tasks() {
  return std::make_unique<DeletedSetLeavesTasks>();
}
std::unique_ptr<Plant> make_scale_rounded_down() {
  return std::make_unique<ScaleRoundedDown>();
}
std::unique_ptr<Plant> make_one_more_than_the_scale() {
  return std::make_unique<OneMoreThanTheScale>();
}
std::unique_ptr<Plant> make_second_primary() {
  return std::make_unique<SecondPrimary>();
}
std::unique_ptr<Plant> make_forgotten_task_set_scale() {
  return std::make_unique<ForgottenTaskSetScale>();
}

}  // namespace sim
