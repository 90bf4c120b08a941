// Those who roll out services with the deployment controller EXTERNAL themselves: they make task
// sets, scale them, make one of them PRIMARY, and delete them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/caller.h"
#include "sim/environment.h"
#include "sim/workloads/workload.h"

namespace sim {

class TaskSetClients {
 public:
  // The references outlive it.
  TaskSetClients(Environment& environment, Caller& caller)
      : environment_(environment), caller_(caller) {}

  void act(const PlannedTaskSetCall& call);

 private:
  void make(const PlannedTaskSetCall& call);
  void scale(const std::string& service, const std::string& set, int32_t percent);
  void promote(const std::string& service, const std::string& set);
  void remove(const std::string& service, const std::string& set, bool force);
  void describe(const std::string& service);
  // What the server says of a set that is not there any more.
  void note(const std::string& service, const std::string& set, const base::Error& refusal);

  Environment& environment_;
  Caller& caller_;
  std::map<std::string, std::vector<std::string>> sets_;  // By service; ARNs that were answered.
  uint64_t made_ = 0;
};

}  // namespace sim
