// The operator of a simulated cluster. Once a minute: gives up instances that their machine has
// left behind, restarts agents whose instance is not registered any more (an agent that is told so
// stays away), and clears GPUs that are kept for a task that was given up, after a look at the
// machine.
#pragma once

#include <memory>
#include <vector>

#include "sim/agent.h"
#include "sim/clients.h"
#include "sim/environment.h"
#include "sim/server.h"

namespace sim {

class Operator {
 public:
  // The references outlive it.
  Operator(Environment& environment, Server& server, Clients& clients,
           const std::vector<std::unique_ptr<Agent>>& agents)
      : environment_(environment), server_(server), clients_(clients), agents_(agents) {}

  void start();

 private:
  void look();
  void look_at(Agent& agent, const model::ClusterState& state);
  void clear_gpus(const Agent& agent, const model::ContainerInstance& instance);

  Environment& environment_;
  Server& server_;
  Clients& clients_;
  const std::vector<std::unique_ptr<Agent>>& agents_;
};

}  // namespace sim
