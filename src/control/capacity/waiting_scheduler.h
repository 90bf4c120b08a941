// Sees to the tasks that wait for capacity: looks at a cluster's again when something there has
// changed that may make room. Those of the queue (model::berth_queue) are src/reconcile/queue's;
// those that wait for an Auto Scaling group are tried here, the oldest first, and end after
// Settings::provisioning_limit. What it remembers is made anew after a restart, when every cluster
// with waiting tasks is looked at once.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "base/time.h"
#include "control/input.h"
#include "control/step.h"
#include "model/state.h"

namespace control {

class WaitingScheduler {
 public:
  WaitingScheduler(const model::ClusterState& state, base::Time now);

  // Takes in the changes of the step from number `first` on. Cost: of those changes alone.
  void observe(const Step& step, const Output& output, size_t first);
  // Looks at the clusters that are due. Cost: O(their waiting tasks).
  void tick(Step& step);
  base::Time next_tick() const;

 private:
  using Oldest = std::set<std::pair<base::Time, model::TaskArn>>;  // By their creation.

  void observe_change(const Step& step, const model::Change& change);
  void room_may_have_come(const Step& step, const model::ClusterName& cluster);
  void add(const model::Task& task);
  void remove(const model::TaskArn& arn);
  void mark(const model::ClusterName& cluster, base::Time at);
  void unmark(const model::ClusterName& cluster);
  void run_pass(Step& step, const model::ClusterName& cluster);
  void try_group_tasks(Step& step, const model::ClusterName& cluster);

  std::set<std::pair<base::Time, model::ClusterName>> due_;
  std::map<model::ClusterName, base::Time> due_at_;
  std::map<model::ClusterName, base::Time> last_pass_;
  // Those that wait for Auto Scaling groups.
  std::map<model::ClusterName, Oldest> for_groups_;
  std::map<model::TaskArn, std::pair<model::ClusterName, base::Time>> known_;
};

}  // namespace control
