// The people and programs that use the control plane: create what is needed, run and stop tasks,
// ask again when an answer does not come; and the operator who looks after the instances.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/ground.h"
#include "sim/ledger.h"
#include "sim/network.h"
#include "sim/planted/plant.h"
#include "sim/server.h"

namespace sim {

class Clients {
 public:
  // The references outlive it.
  Clients(Ground& ground, Plant& plant, Server& server, Ledger& ledger);

  // Cluster and task definitions; again when the server has lost its disk.
  void provide();
  void act(const PlannedCall& call);
  // StopTask, until it is acknowledged.
  void stop(const std::string& task_arn);
  // DeregisterContainerInstance with force.
  void deregister(const std::string& instance_arn);
  // UpdateContainerInstancesState with berthClearGpuIds.
  void clear_gpu(const std::string& instance_arn, const std::string& uuid);

  Link& link() { return link_; }
  // Calls that wait for their answer or their next try.
  size_t waiting() const { return waiting_; }

 private:
  template <class Response, class Request>
  void insist(std::string operation, Request request,
              std::function<void(const base::Result<Response>&)> done);
  void run(const std::string& family, int32_t count);
  void describe();
  std::string some_task() const;

  Ground& ground_;
  Plant& plant_;
  Server& server_;
  Ledger& ledger_;
  Link link_;
  size_t waiting_ = 0;
};

}  // namespace sim
