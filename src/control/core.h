// The control plane without its edges: one input in, everything it wants done out. It never
// blocks, reads no clock, draws no randomness but its own seed's, and does no I/O.
//
// Contract with the driver (one thread owns the Core):
//   1. Core(all records of the store, settings, seed, now) once, then for every input:
//      Output out = core.step(input, now). `now` never goes back.
//   2. The changes of all steps, in their order, are written in one durable transaction or several;
//      only then may the replies, messages, closes and orders of those steps leave, those of
//      steps that changed nothing included.
//   3. When that write fails, or its outcome is unknown: nothing of it leaves, and the Core is
//      thrown away and made anew from the store.
//   4. step(TimerDue{}, now) at next_timer(), if nothing came before.
//   5. Every ApiCall is answered by one Reply of the same step. Every order for a machine is
//      answered by a MachineReport, at any time and in any order; after a restart the orders that
//      have no answer are given again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "control/step/input.h"
#include "control/step/observer.h"
#include "control/step/queue_notes.h"
#include "control/step/refused_claims.h"
#include "control/step/settings.h"
#include "model/state.h"
#include "placement/place.h"

namespace control {

// One thread. Same state, settings, seed and inputs: same outputs.
class Core {
 public:
  // `now` starts the grace in which agents may come back.
  Core(model::ClusterState state, Settings settings, uint64_t seed, base::Time now);

  Output step(Input input, base::Time now);
  // When it wants a TimerDue at the latest.
  base::Time next_timer() const;
  const model::ClusterState& state() const { return state_; }

 private:
  void run_observers(Step& step);

  model::ClusterState state_;
  Settings settings_;
  placement::Engine engine_;
  base::Random random_;
  QueueNotes queue_notes_;
  RefusedClaims refused_claims_;
  std::vector<std::unique_ptr<Observer>> observers_;
};

}  // namespace control
