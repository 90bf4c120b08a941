// Those who keep Auto Scaling groups and capacity providers over them: make, resize, alter, end
// single machines; and clear up in the end.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/caller.h"
#include "sim/environment.h"
#include "sim/server.h"
#include "sim/workloads/workload.h"

namespace sim {

class GroupClients {
 public:
  // The references outlive it.
  GroupClients(Environment& environment, Server& server, Caller& caller,
               const std::vector<PlannedGroup>& groups);

  // Makes all groups and their capacity providers.
  void provide();
  void act(const PlannedGroupCall& call);
  // Deletes all groups with their machines.
  void delete_all();

 private:
  void make_source(const std::string& type, const std::function<void()>& then);
  void make_group(const PlannedGroup& group);
  void make_provider(const PlannedGroup& group);
  void associate(const std::string& provider);
  void end_one(const std::string& group);
  void remove(const std::string& group);

  Environment& environment_;
  Server& server_;
  Caller& caller_;
  const std::vector<PlannedGroup>& groups_;
  std::vector<std::string> providers_;  // Made; the cluster's.
};

}  // namespace sim
