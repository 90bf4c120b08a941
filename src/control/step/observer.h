// A part of the control plane that acts by itself.
#pragma once

#include "base/time.h"
#include "control/step/input.h"
#include "control/step/step.h"
#include "model/change.h"

namespace control {

// Core calls each of its observers, in their order: take() for an input that is no API call, then
// observe() for every change that the step has made so far, then tick(); after that observe()
// alone, for what the others have changed meanwhile, until nobody changes anything. An observer is
// not told of what its own observe() and tick() have changed.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  Observer& operator=(const Observer&) = delete;
  virtual ~Observer() = default;

  // Inputs of other observers are not its own to look at.
  virtual void take(Step&, const Input&) {}
  // `change` was applied. It may move in memory when the observer makes a change itself: nothing of
  // it is used after that.
  virtual void observe(Step&, const model::Change&) {}
  // Does what is due. Some of it may be left for the next step, where there is much.
  virtual void tick(Step&) {}
  // When tick() wants to be called at the latest; base::Time::max(): it has nothing to do.
  virtual base::Time next_tick() const { return base::Time::max(); }
};

}  // namespace control
