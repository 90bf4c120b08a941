// A whole cluster in one process, under virtual time and one seed: the server, the agents on their
// machines, the network between them, the clients, and those who break all of it.
//
// run(): a safety phase, in which faults strike and checkers look on; then the faults stop, and
// within a bound every call must be answered and every service be as it is wanted; then the
// services are deleted, and every task must come to its end and every GPU be back.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/agent.h"
#include "sim/caller.h"
#include "sim/checkers/checker.h"
#include "sim/clients.h"
#include "sim/environment.h"
#include "sim/expectations.h"
#include "sim/group_clients.h"
#include "sim/machine.h"
#include "sim/machine_provider.h"
#include "sim/mutants/mutant.h"
#include "sim/operator.h"
#include "sim/secret_clients.h"
#include "sim/secret_store.h"
#include "sim/server.h"
#include "sim/service_clients.h"
#include "sim/task_set_clients.h"
#include "sim/workloads/workload.h"

namespace sim {

class World {
 public:
  // `workload` and `mutant` outlive the world.
  World(uint64_t seed, const Workload& workload, Mutant& mutant, Trace::OnLine on_line);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  void run();

  Environment& environment() { return environment_; }
  const Server& server() const { return *server_; }
  const std::vector<std::unique_ptr<Agent>>& agents() const { return agents_; }
  const Machine::Fates& fates() const { return fates_; }
  const Expectations& expectations() const { return expectations_; }
  const MachineProvider& provider() const { return *provider_; }
  const SecretStore& secrets() const { return *secrets_; }
  // The agent of a machine, by the machine's id; nullptr: there is no such machine.
  Agent* agent_on(const std::string& machine_id) const;
  // The machine of a container instance; nullptr for one that is not of this world.
  const Machine* machine_of(const model::ContainerInstance& instance) const;

 private:
  // A machine, its network link and its agent; in this order.
  Agent& add_agent(const std::string& type);
  void run_until(base::Time end);
  void stop_faults();
  void settle();
  void await_answers();
  void await_services();
  void await_queue();
  void await_rest();
  // What is not as it should be at rest; empty: all is.
  std::string unrest() const;
  std::string group_unrest(const model::ClusterState& state) const;
  std::string task_unrest(const model::ClusterState& state) const;
  std::string agent_unrest(const Agent& agent, const model::ClusterState& state) const;

  Environment environment_;
  Mutant& mutant_;
  Expectations expectations_;
  Machine::Fates fates_;
  WorkPlan plan_;
  std::vector<std::unique_ptr<Checker>> checkers_;
  std::unique_ptr<MachineProvider> provider_;
  std::unique_ptr<SecretStore> secrets_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<Caller> caller_;
  std::unique_ptr<Clients> clients_;
  std::unique_ptr<ServiceClients> owners_;
  std::unique_ptr<TaskSetClients> task_set_clients_;
  std::unique_ptr<SecretClients> secret_clients_;
  std::unique_ptr<GroupClients> group_clients_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::unique_ptr<Agent>> agents_;
  std::unique_ptr<Operator> operator_;
};

}  // namespace sim
