// Keeps services as they are wanted: runs src/reconcile for those about which something has
// changed, and carries its decisions out. What it remembers itself is when to look again; all of
// that is made anew after a restart, when every service is looked at once.
#pragma once

#include <map>

#include "base/due_table.h"
#include "base/time.h"
#include "control/services/carry_out.h"
#include "control/step/observer.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

class ServiceScheduler : public Observer {
 public:
  ServiceScheduler(const model::ClusterState& state, base::Time now);

  // What a task's end says about its deployment becomes durable with it; services that may have
  // something to do are due.
  void observe(Step& step, const model::Change& change) override;
  // Reconciles services that are due. Where there is much to do, some of it is left for the next
  // moment: all calls of one moment together do no more than most_effort_at_once.
  void tick(Step& step) override;
  base::Time next_tick() const override;

 private:
  void task_changed(Step& step, const model::TaskArn& arn, bool stopped);
  void instance_changed(const Step& step, const model::InstanceArn& arn);
  void capacity_came_free(const Step& step, const model::ClusterName& cluster);
  void run_pass(Step& step, const model::ServiceArn& service, Surroundings& shared);

  base::DueTable<model::ServiceArn> due_;
  base::Time moment_{};  // Of the last call of tick(), and what was left at its end.
  Effort effort_left_ = most_effort_at_once;
  // A task of theirs found no place; when they last tried.
  std::map<model::ServiceArn, base::Time> waiting_;
};

}  // namespace control
