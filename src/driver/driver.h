// The loop around control::Core: takes a batch of inputs, steps them, writes all changes in one
// transaction, and only then lets replies and messages out. The server and the simulator run this
// very code.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/time.h"
#include "control/core.h"
#include "control/step/input.h"
#include "control/step/settings.h"
#include "model/change.h"
#include "model/records.h"
#include "store/store.h"

namespace driver {

// What may leave after a turn: everything here is durable.
struct Released {
  std::vector<control::Reply> replies;
  std::vector<control::ToAgent> messages;
  std::vector<control::CloseSession> closes;
  std::vector<control::MachineOrder> machine_orders;
  // The memory was thrown away and loaded again: every agent session is unknown now and must be
  // closed; agents come back by themselves.
  bool reloaded = false;
  std::string reload_cause;  // What the store said; empty unless reloaded.
  // A key of an agent was made, bound or taken back, or the memory was loaded again.
  bool agent_keys_changed = false;
  // Agents that came, fell silent or went, in their order.
  std::vector<model::AgentConnectionChanged> connections;
  // Tasks whose records were written or deleted.
  std::vector<model::TaskArn> tasks;
  // The state could not be loaded again: nobody is served until a later turn can.
  std::optional<base::Error> out_of_service;
};

// One thread owns a Driver. The store and the settings outlive it.
class Driver {
 public:
  // Becomes leader (waiting up to `patience`) and loads the state. Errors: the store's.
  static base::Result<std::unique_ptr<Driver>> start(store::Store& store,
                                                     control::Settings settings, uint64_t seed,
                                                     std::string candidate,
                                                     base::Milliseconds patience, base::Time now);

  // Steps the inputs in their order. When the write fails or its outcome is unknown, the calls that
  // were not released yet are answered with ServerException, and the state is loaded from the store
  // again, now or, where that fails too, at the next turn.
  Released turn(std::vector<control::Input> inputs, base::Time now);

  // When turn() wants to be called at the latest, with or without inputs.
  base::Time next_timer() const { return core_->next_timer(); }
  const control::Core& core() const { return *core_; }

 private:
  Driver(store::Store& store, control::Settings settings, uint64_t seed, std::string candidate);

  base::Result<void> lead_and_load(base::Milliseconds patience, base::Time now);
  void step(control::Input input, base::Time now);
  bool commit();
  void release(Released& released);
  void refuse(const std::vector<control::Input>& inputs, size_t first, Released& released);
  void load_again(Released& released, base::Time now);

  store::Store& store_;
  control::Settings settings_;
  base::Random random_;
  std::string candidate_;
  uint64_t epoch_ = 0;
  std::unique_ptr<control::Core> core_;
  // What the steps since the last commit have done.
  std::set<model::RecordKey> keys_;
  std::vector<control::Reply> replies_;
  std::vector<control::ToAgent> messages_;
  std::vector<control::CloseSession> closes_;
  std::vector<control::MachineOrder> machine_orders_;
  std::vector<model::TaskArn> tasks_;
  std::vector<model::AgentConnectionChanged> connections_;
  bool needs_load_ = false;
  bool agent_keys_changed_ = false;
};

}  // namespace driver
