// Keeps Auto Scaling groups as they are wanted: runs src/reconcile/machines for those about which
// something has changed, makes its decisions durable and gives the machine provider its orders.
// What it remembers itself is which orders are out and when to look again. After a restart every
// group is looked at once, orders without an answer are given again, and the next point of managed
// scaling comes one interval later: the time in between counts for nothing.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/due_table.h"
#include "base/time.h"
#include "control/capacity/groups/machines.h"
#include "control/step/machine_orders.h"
#include "control/step/observer.h"
#include "control/step/step.h"
#include "model/state.h"
#include "reconcile/machines/group_policy.h"

namespace control {

class GroupController : public Observer {
 public:
  GroupController(const model::ClusterState& state, const Settings& settings, base::Time now);

  // What the machine provider has done.
  void take(Step& step, const Input& input) override;
  // Groups that may have something to do are due.
  void observe(Step& step, const model::Change& change) override;
  void tick(Step& step) override;
  base::Time next_tick() const override;

 private:
  struct Pass;

  void take_one(Step& step, const MachineLaunched& report);
  void take_one(Step& step, const MachineNotLaunched& report);
  void take_one(Step& step, const MachineTerminated& report);
  void take_one(Step& step, const MachineNotTerminated& report);
  void take_one(Step& step, const MachinesListed& report);
  void take_listed(Step& step, const model::AutoScalingGroup& group, const MachinesListed& report,
                   const std::map<std::string_view, std::string_view>& ids);
  void adopt(Step& step, const model::AutoScalingGroup& group, std::string_view token,
             std::string_view id);
  base::Time forget_at(const std::string& group) const;
  void machine_is_gone(Step& step, const model::AutoScalingGroup& group, std::string_view token);

  void task_changed(const Step& step, const model::TaskArn& arn);
  void instance_changed(const Step& step, const model::InstanceArn& arn);

  void run_pass(Step& step, const std::string& name, bool is_point);
  void scale(Step& step, Pass& pass, bool is_point);
  void carry_out(Step& step, Pass& pass);
  void launch(Step& step, Pass& pass);
  void give_orders(Step& step, const Pass& pass);

  base::DueTable<std::string> due_;                // Groups.
  std::set<std::string, std::less<>> scale_soon_;  // Groups; tasks began to wait for them.
  // Of groups whose launches failed: what they were launched from.
  std::map<std::string, LaunchSource> failed_source_;
  std::set<std::string, std::less<>> launches_;           // Tokens; ordered and not answered.
  std::set<std::string, std::less<>> terminations_;       // Ids; ordered and not answered.
  std::map<std::string, base::Time> terminate_again_at_;  // By id; the last order failed.
  std::set<std::string, std::less<>> fresh_;  // Tokens made by this process, not yet ordered.
  // By group: its last launch that failed, or had before this process began. The machine may be
  // there all the same: only a list that was asked for later tells.
  std::map<std::string, base::Time, std::less<>> unsure_since_;
  base::Time started_at_;
  bool has_been_listed_ = false;  // By this process.
  base::Time next_point_;
};

}  // namespace control
