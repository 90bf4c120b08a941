// Keeps services as they are wanted: runs src/reconcile for those about which something has
// changed, and carries its decisions out. What it remembers itself is when to look again; all of
// that is made anew after a restart, when every service is looked at once.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "base/time.h"
#include "control/input.h"
#include "control/services/carry_out.h"
#include "control/step.h"
#include "model/state.h"

namespace control {

class ServiceScheduler {
 public:
  ServiceScheduler(const model::ClusterState& state, base::Time now);

  // Takes in the changes that a step has made, from the one with that index on: what a task's end
  // says about its deployment becomes durable with it; services that may have something to do are
  // due.
  void observe(Step& step, const Output& output, size_t first);
  // Reconciles services that are due; some are left for the next call where there are many.
  void tick(Step& step);
  base::Time next_tick() const;

 private:
  void observe_change(Step& step, const model::Change& change);
  void task_changed(Step& step, const model::TaskArn& arn, bool stopped);
  void instance_changed(const Step& step, const model::InstanceArn& arn);
  void capacity_came_free(const Step& step, const model::ClusterName& cluster);
  void mark(const model::ServiceArn& service, base::Time at);
  void unmark(const model::ServiceArn& service);
  void run_pass(Step& step, const model::ServiceArn& service, Surroundings& shared);

  std::set<std::pair<base::Time, model::ServiceArn>> due_;
  std::map<model::ServiceArn, base::Time> due_at_;
  // A task of theirs found no place; when they last tried.
  std::map<model::ServiceArn, base::Time> waiting_;
};

}  // namespace control
