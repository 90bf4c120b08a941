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

#include "base/time.h"
#include "control/auto_scaling/machine_orders.h"
#include "control/auto_scaling/machines.h"
#include "control/input.h"
#include "control/step.h"
#include "model/state.h"
#include "reconcile/machines/group_keeper.h"

namespace control {

class AutoScalingKeeper {
 public:
  AutoScalingKeeper(const model::ClusterState& state, const Settings& settings, base::Time now);

  // What the machine provider has done.
  void take(Step& step, const MachineReport& report);
  // Takes in the changes of a step: groups that may have something to do are due.
  void observe(const Step& step, const Output& output);
  void tick(Step& step, Output& output);
  base::Time next_tick() const;

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

  void observe_change(const Step& step, const model::Change& change);
  void task_changed(const Step& step, const model::TaskArn& arn);
  void instance_changed(const Step& step, const model::InstanceArn& arn);
  void mark(std::string_view group, base::Time at);

  void run_pass(Step& step, Output& output, const std::string& name, bool is_point);
  void scale(Step& step, Pass& pass, bool is_point);
  void carry_out(Step& step, Pass& pass);
  void launch(Step& step, Pass& pass);
  void give_orders(Step& step, Output& output, const Pass& pass);

  std::map<std::string, base::Time, std::less<>> due_;  // By group.
  std::set<std::string, std::less<>> scale_soon_;       // Groups; tasks began to wait for them.
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
