// What is remembered for a time only: stopped tasks, client tokens, INACTIVE instances and
// services, join tokens, task definitions that are to be deleted.
#pragma once

#include <algorithm>

#include "control/step/observer.h"

namespace control {

class Expiry : public Observer {
 public:
  explicit Expiry(base::Time now);
  void tick(Step& step) override;
  base::Time next_tick() const override { return std::min(next_, next_tasks_); }

 private:
  base::Time next_;
  base::Time next_tasks_;  // Of stopped tasks: there may be many.
};

}  // namespace control
