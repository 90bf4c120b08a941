// The decisions of a pass while they are made.
#pragma once

#include <string>

#include "reconcile/events.h"
#include "reconcile/reconcile.h"

namespace reconcile {

class Plan {
 public:
  Plan(const Input& input, base::Random& random)
      : input(input), random(random), service_(input.service) {}

  const model::Service& service() const { return service_; }
  // To be altered; it is written whole.
  model::Service& altered() {
    changed_ = true;
    return service_;
  }
  // A rollout to be altered; nullptr when it is not known any more.
  model::ServiceDeployment* rollout(const model::ServiceDeploymentArn& arn) {
    const auto found = decisions.rollouts.find(arn);
    if (found != decisions.rollouts.end()) return &found->second;
    const auto* const kept = model::find_service_deployment(input.state, arn);
    if (kept == nullptr) return nullptr;
    return &decisions.rollouts.emplace(arn, *kept).first->second;
  }
  // The same to be read.
  const model::ServiceDeployment* rollout_as_is(const model::ServiceDeploymentArn& arn) const {
    const auto found = decisions.rollouts.find(arn);
    return found != decisions.rollouts.end() ? &found->second
                                             : model::find_service_deployment(input.state, arn);
  }
  // Says it, unless an event that begins with `stem` has said so lately.
  void say(std::string_view stem, std::string_view rest = {}) {
    if (!is_muted(input.state, service_, stem, input.now)) {
      decisions.events.push_back(std::string(stem).append(rest));
    }
  }
  void stop(const model::Task& task, std::string reason) {
    decisions.stops.push_back({task.arn, std::move(reason)});
  }
  // As many as one pass may stop: what is left to stop is for the next one.
  bool stops_enough() {
    if (static_cast<int32_t>(decisions.stops.size()) < input.options.most_at_once) return false;
    decisions.more = true;
    return true;
  }
  void wake_at(base::Time time) {
    if (time > input.now && time < decisions.wake) decisions.wake = time;
  }
  Decisions finish() {
    if (changed_) decisions.service = std::move(service_);
    return std::move(decisions);
  }

  const Input& input;
  base::Random& random;
  Decisions decisions;

 private:
  model::Service service_;
  bool changed_ = false;
};

}  // namespace reconcile
