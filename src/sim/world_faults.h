// Those who break the world: at random moments, as often as the rates say, until the faults stop.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/agent.h"
#include "sim/clients.h"
#include "sim/environment.h"
#include "sim/server.h"

namespace sim {

// The references outlive all events of the world.
struct Victims {
  Environment& environment;
  Server& server;
  Clients& clients;
  const std::vector<std::unique_ptr<Agent>>& agents;
  std::function<void()> server_disk_lost;
};

void strike_faults(Victims victims);

}  // namespace sim
