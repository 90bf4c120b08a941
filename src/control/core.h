// The control plane without its edges: one input in, everything it wants done out. It never
// blocks, reads no clock, draws no randomness but its own seed's, and does no I/O.
#pragma once

#include <cstdint>
#include <string>

#include "base/random.h"
#include "base/result.h"
#include "control/auto_scaling/keeper.h"
#include "control/capacity/queue_notes.h"
#include "control/capacity/waiting_scheduler.h"
#include "control/input.h"
#include "control/services/scheduler.h"
#include "control/sessions.h"
#include "control/settings.h"
#include "model/state.h"
#include "placement/place.h"

namespace control {

// One thread. Same state, settings, seed and inputs: same outputs.
class Core {
 public:
  // `now` starts the grace in which agents may come back.
  Core(model::ClusterState state, Settings settings, uint64_t seed, base::Time now);

  Output step(Input input, base::Time now);
  // When the machine wants a TimerDue at the latest.
  base::Time next_timer() const;
  const model::ClusterState& state() const { return state_; }

 private:
  void call_action(Step& step, ApiCall& call, Output& output);
  void expire(Step& step);

  model::ClusterState state_;
  Settings settings_;
  placement::Engine engine_;
  base::Random random_;
  Sessions sessions_;
  ServiceScheduler services_;
  WaitingScheduler waiting_;
  AutoScalingKeeper machines_;
  QueueNotes queue_notes_;
  base::Time next_expiry_;
};

}  // namespace control
