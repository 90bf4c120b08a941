// Those who keep services, and drain the instances under them: make, deploy, scale, protect,
// delete; and clear up in the end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/caller.h"
#include "sim/environment.h"
#include "sim/expectations.h"
#include "sim/server.h"

namespace sim {

class ServiceClients {
 public:
  // The references outlive it.
  ServiceClients(Environment& environment, Server& server, Expectations& expectations,
                 Caller& caller, const std::vector<PlannedService>& services);

  // Makes all services.
  void provide();
  void act(const PlannedServiceCall& call);
  // The faults have stopped: most instances that drain are taken back.
  void calm_down();
  // Deletes all services, with force.
  void delete_all();

 private:
  void make(const PlannedService& service);
  void update(const PlannedServiceCall& call);
  void protect(const std::string& service);
  void describe(const std::string& service);
  void remove(const std::string& service);
  void set_status(const model::InstanceArn& instance, api::ecs::ContainerInstanceStatus status);
  void drain_some();
  void take_back_all();

  Environment& environment_;
  Server& server_;
  Expectations& expectations_;
  Caller& caller_;
  std::map<std::string, PlannedService> services_;
  bool calm_ = false;  // Nothing new is made any more.
};

}  // namespace sim
