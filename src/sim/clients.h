// The people and programs that use the control plane: create what is needed, run and stop tasks;
// and what the operator who looks after the instances asks for.
#pragma once

#include <string>

#include "sim/caller.h"
#include "sim/environment.h"
#include "sim/expectations.h"
#include "sim/mutants/mutant.h"
#include "sim/server.h"

namespace sim {

class Clients {
 public:
  // The references outlive it.
  Clients(Environment& environment, Mutant& mutant, Server& server, Expectations& expectations,
          Caller& caller);

  // Cluster and task definitions; again when the server has lost its disk.
  void provide();
  void act(const PlannedCall& call);
  // StopTask, until it is acknowledged.
  void stop(const std::string& task_arn);
  // StopTask of every task that still waits in the queue.
  void give_up_waiting();
  // DeregisterContainerInstance with force.
  void deregister(const std::string& instance_arn);
  // UpdateContainerInstancesState with berthClearGpuIds.
  void clear_gpu(const std::string& instance_arn, const std::string& uuid);
  Link& link() { return caller_.link(); }

 private:
  void run(const PlannedCall& call);
  void describe();
  std::string some_task() const;

  Environment& environment_;
  Mutant& mutant_;
  Server& server_;
  Expectations& expectations_;
  Caller& caller_;
};

}  // namespace sim
