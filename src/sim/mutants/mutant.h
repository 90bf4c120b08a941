// Where a mutant takes hold: decorators around the driver, its store, the transport, the
// clients and the agents. Each method is a no-op, so that a mutant says only what it breaks. The
// world without a mutant has one of this class.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "acs/messages.h"
#include "agent/core/core.h"
#include "api/generated/ecs.h"
#include "control/step/input.h"
#include "driver/driver.h"
#include "reconcile/machines/group_policy.h"
#include "reconcile/queue/queue.h"
#include "reconcile/reconcile.h"
#include "store/store.h"

namespace sim {

class Mutant {
 public:
  virtual ~Mutant() = default;

  // A store around that of the server; null: none. `inner` outlives it.
  virtual std::unique_ptr<store::Store> around_store(store::Store& inner);
  // The server's process has died and starts anew.
  virtual void server_died() {}

  // What goes into the driver and what comes out of it.
  virtual void into_driver(std::vector<control::Input>& inputs);
  virtual void out_of_driver(driver::Released& released, base::Time now);

  // What a service needs done now.
  virtual reconcile::Decisions decide(const reconcile::Input& input, base::Random& random);
  // Who in a queue starts now.
  virtual reconcile::queue::Outcome decide_queue(
      const reconcile::queue::Input& environment,
      const std::vector<reconcile::queue::WaitingTask>& tasks, base::Time now,
      const reconcile::queue::Settings& settings);
  // What a group of machines needs done now.
  virtual reconcile::machines::GroupDecisions decide_group(
      const reconcile::machines::GroupInput& input);

  // An agent: what its core hears, what it wants done, and the journal that it reads at its start.
  // False: the core does not hear it.
  virtual bool into_agent(const std::string& agent, agent::core::Input& input);
  virtual void out_of_agent(const std::string& agent, agent::core::Output& output);
  virtual void journal_read(const std::string& agent,
                            std::vector<agent::core::JournalRecord>& records);
  // True: what it writes reaches the disk only with the next write.
  virtual bool delays_journal(const std::string& agent);

  // An operation of the agent fails so, and nothing of it is done.
  virtual std::optional<agent::core::OperationError> fails(const std::string& agent,
                                                           const agent::core::Operation& operation);

  // An agent has put the secrets of a container into its request.
  virtual void completed(agent::core::CreateContainer& request);

  // A message on its way to an agent; more may be added, to sessions of others, too.
  virtual void on_the_wire(std::vector<control::ToAgent>& messages);
  // The client sends its call again.
  virtual void retried(api::ecs::RunTaskRequest& request);
};

}  // namespace sim
