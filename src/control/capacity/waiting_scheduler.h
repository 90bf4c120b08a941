// Sees to the tasks that wait for capacity: looks at a cluster's again when something there has
// changed that may make room. Those of the queue (model::berth_queue) are src/reconcile/queue's;
// those that wait for an Auto Scaling group are tried here, the oldest first, and end after
// Settings::provisioning_limit. What it remembers is made anew after a restart, when every cluster
// with waiting tasks is looked at once.
#pragma once

#include <map>
#include <set>
#include <utility>

#include "base/due_table.h"
#include "base/time.h"
#include "control/step/observer.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

class WaitingScheduler : public Observer {
 public:
  WaitingScheduler(const model::ClusterState& state, base::Time now);

  void observe(Step& step, const model::Change& change) override;
  // Looks at the clusters that are due. Cost: O(their waiting tasks).
  void tick(Step& step) override;
  base::Time next_tick() const override { return due_.next(); }

 private:
  using Oldest = std::set<std::pair<base::Time, model::TaskArn>>;  // By their creation.

  void room_may_have_come(const Step& step, const model::ClusterName& cluster);
  void add(const model::Task& task);
  void remove(const model::TaskArn& arn);
  void run_pass(Step& step, const model::ClusterName& cluster);
  void try_group_tasks(Step& step, const model::ClusterName& cluster);

  base::DueTable<model::ClusterName> due_;
  std::map<model::ClusterName, base::Time> last_pass_;
  // Those that wait for Auto Scaling groups.
  std::map<model::ClusterName, Oldest> for_groups_;
  std::map<model::TaskArn, std::pair<model::ClusterName, base::Time>> known_;
};

}  // namespace control
