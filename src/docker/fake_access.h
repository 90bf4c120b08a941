// How the calls of FakeRuntime come at its state. Only fake.cpp and fake_resources.cpp see it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "docker/fake_state.h"

namespace docker {

// Runs one call of the interface: counts it, and lets it fail as the test ordered.
template <class Act>
auto perform(FakeRuntime::State& state, Operation operation, const std::string& subject, Act act)
    -> decltype(act()) {
  std::optional<FakeFailure> failure = state.count_call(operation, subject);
  if (failure && failure->effect == Effect::None) return std::unexpected(failure->error);
  auto result = act();
  if (failure) return std::unexpected(failure->error);
  return result;
}

// Takes the state out of its queue and puts it back.
class FakeRuntime::Held {
 public:
  explicit Held(const FakeRuntime& fake) : queue_(fake.state_) {
    auto state = queue_.pop();
    CHECK(state.has_value());
    state_ = std::move(*state);
  }
  ~Held() { CHECK(queue_.try_push(std::move(state_))); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

  State& operator*() const { return *state_; }
  State* operator->() const { return state_.get(); }

 private:
  base::Queue<std::unique_ptr<State>>& queue_;
  std::unique_ptr<State> state_;
};

}  // namespace docker
