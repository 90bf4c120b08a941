// A group in a world of machines for tests: carries decisions out as the control plane and a
// machine provider would, and checks each of them against the group's limits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/format.h"
#include "reconcile/machines/group_policy.h"
#include "reconcile/machines/launch_backoff.h"
#include "reconcile/machines/managed_scaling.h"

namespace reconcile::machines::testing {

inline const base::Time start_time{std::chrono::seconds(1'750'000'000)};

class GroupWorld {
 public:
  GroupWorld() {
    group.name = "gpus";
    group.max_size = 10;
    settings.target_capacity = 100;
    settings.instance_warmup_period = 300;
  }

  std::vector<Look> looks() {
    std::vector<Look> all;
    for (const model::Machine& machine : group.machines) {
      Look look;
      const auto registered = instances.find(machine.token);
      if (registered != instances.end()) {
        look.instance = &registered->second;
        if (!registered->second.agent_connected) {
          look.lost_at = registered->second.connected_changed_at + options.lost_after;
        }
      }
      look.busy = tasks[machine.token] > 0;
      look.has_standalone_tasks = look.busy;
      look.source_made_at = source_made_at[machine.launch_name];
      all.push_back(look);
    }
    return all;
  }

  // One pass. True when anything was done.
  bool pass() {
    const std::vector<Look> seen = looks();
    const GroupDecisions decisions = decide_group({.group = group,
                                                   .looks = seen,
                                                   .now = now,
                                                   .options = options,
                                                   .drains = drains,
                                                   .protects_busy = protects_busy});
    wake = decisions.wake;
    forgotten = decisions.forget;
    for (const size_t i : decisions.joined) {
      group.machines[i].state = model::MachineState::InService;
      group.machines[i].changed_at = now;
      note_launch_succeeded(group);
    }
    for (const End& end : decisions.ends) take_end(end, seen[end.machine]);
    for (const std::string& zone : decisions.launch_zones) {
      model::Machine machine;
      machine.token = base::format("m{:03}", ++made);
      machine.availability_zone = zone;
      machine.launch_name = launch_name;
      machine.created_at = machine.changed_at = now;
      group.machines.push_back(machine);
      ++launched;
    }
    if (!decisions.launch_zones.empty()) {
      EXPECT_LE(alive(), std::max(group.desired_capacity, group.min_size));
      EXPECT_LE(alive(), std::max(group.max_size, group.min_size));
    }
    std::vector<std::string> gone;
    for (const size_t i : decisions.drained) gone.push_back(group.machines[i].token);
    for (const std::string& token : gone) provider_ends(token);
    return !decisions.joined.empty() || !decisions.ends.empty() || !gone.empty() ||
           !decisions.launch_zones.empty();
  }

  // The machine provider and the agents do all that they can.
  bool provide() {
    bool any = false;
    for (model::Machine& machine : group.machines) {
      if (machine.id.empty() && launches_work) {
        machine.id = "i-" + machine.token;
        if (machine.state == model::MachineState::Wanted) {
          machine.state = model::MachineState::Pending;
          machine.changed_at = now;
        }
        any = true;
      } else if (machine.state == model::MachineState::Pending && agents_join &&
                 !instances.contains(machine.token)) {
        instances[machine.token].agent_connected = true;
        any = true;
      }
    }
    return any;
  }

  void run(int most = 100) {
    for (int i = 0; i < most; ++i) {
      const bool acted = pass();
      const bool provided = provide();
      if (!acted && !provided) return;
    }
    ADD_FAILURE() << "the group does not come to rest";
  }

  ScalingDecision scale_point(const Estimate& waiting = {}) {
    const std::vector<Look> seen = looks();
    ScalingDecision decision = scale({.group = group,
                                      .looks = seen,
                                      .settings = settings,
                                      .waiting = waiting,
                                      .now = now,
                                      .options = options,
                                      .protects_busy = protects_busy});
    group.points_below = decision.points_below;
    EXPECT_GE(decision.desired_capacity, std::min(group.min_size, group.desired_capacity));
    EXPECT_LE(decision.desired_capacity, std::max(group.max_size, group.desired_capacity));
    group.desired_capacity = decision.desired_capacity;
    return decision;
  }

  int32_t alive() const {
    return static_cast<int32_t>(std::ranges::count_if(group.machines, [](const auto& machine) {
      return machine.state != model::MachineState::Terminating;
    }));
  }
  std::vector<std::string> in_service() const {
    std::vector<std::string> found;
    for (const model::Machine& machine : group.machines) {
      if (machine.state == model::MachineState::InService) found.push_back(machine.token);
    }
    return found;
  }
  model::Machine& machine(const std::string& token) {
    return *std::ranges::find(group.machines, token, &model::Machine::token);
  }

  void provider_ends(const std::string& token) {
    std::erase_if(group.machines, [&](const auto& one) { return one.token == token; });
    instances.erase(token);
    tasks.erase(token);
    ended.push_back(token);
  }

  model::AutoScalingGroup group;
  api::ecs::ManagedScaling settings;
  Options options;
  base::Time now = start_time;
  base::Time wake = base::Time::max();
  bool drains = true;
  bool protects_busy = false;
  bool launches_work = true;
  bool agents_join = true;
  bool forgotten = false;
  int made = 0;
  int launched = 0;
  std::string launch_name = "first";
  std::map<std::string, base::Time> source_made_at;
  std::map<std::string, model::ContainerInstance> instances;  // By token.
  std::map<std::string, int> tasks;                           // By token.
  std::vector<std::string> ended;                             // Tokens, in order.

 private:
  void take_end(const End& end, const Look& look) {
    model::Machine& going = group.machines[end.machine];
    EXPECT_NE(going.state, model::MachineState::Terminating);
    if (end.why == Why::Surplus) {
      EXPECT_GT(alive(), group.min_size) << "below the minimum by the group's own doing";
      EXPECT_FALSE(going.scale_in_protected && going.state == model::MachineState::InService &&
                   !protects_busy);
      EXPECT_FALSE(protects_busy && look.busy) << "a protected machine with tasks was ended";
    }
    if (end.why == Why::NeverJoined) note_launch_failed(group, going.created_at, now);
    going.state = model::MachineState::Terminating;
    going.changed_at = now;
  }
};

}  // namespace reconcile::machines::testing
