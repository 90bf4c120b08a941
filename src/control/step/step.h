// What an action sees and may do: the state to read, the time, and change() to alter the state.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "auth/key_ring.h"
#include "base/random.h"
#include "base/time.h"
#include "control/step/input.h"
#include "control/step/refused_claims.h"
#include "control/step/settings.h"
#include "model/change.h"
#include "model/state.h"
#include "placement/place.h"

namespace control {

struct QueueNotes;  // queue_notes.h

// Lives for one input. The references outlive it: they belong to Core.
class Step {
 public:
  Step(model::ClusterState& state, placement::Engine& engine, base::Random& random,
       const Settings& settings, QueueNotes& queue_notes, RefusedClaims& refused_claims,
       base::Time now, Output& output)
      : engine(engine),
        random(random),
        settings(settings),
        queue_notes(queue_notes),
        refused_claims(refused_claims),
        now(now),
        state_(state),
        output_(output) {}

  const model::ClusterState& state() const { return state_; }
  // Applies the change at once and has it written before anything of this step is released.
  // Validate first: there is no undo.
  void change(model::Change change);
  const std::vector<model::Change>& changes() const { return output_.changes; }
  // These leave when the changes are durable.
  void send(SessionId session, acs::ServerMessage message) {
    output_.messages.push_back({session, std::move(message)});
  }
  void close(SessionId session, base::Error reason) {
    output_.closes.push_back({session, std::move(reason)});
  }
  void order(MachineOrder order) { output_.machine_orders.push_back(std::move(order)); }

  placement::Engine& engine;
  base::Random& random;
  const Settings& settings;
  QueueNotes& queue_notes;
  RefusedClaims& refused_claims;
  const base::Time now;
  auth::Caller caller;
  std::string remote_host;  // Of the caller; empty: not known.

 private:
  model::ClusterState& state_;
  Output& output_;
};

}  // namespace control
