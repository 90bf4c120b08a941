// A group with a capacity provider, and a machine provider that answers when it is told to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "control/capacity/groups/controller.h"
#include "control/capacity/groups/machines.h"
#include "control/testing.h"
#include "model/records.h"

namespace control {

inline Settings patient() {
  Settings settings;
  settings.connect_grace = std::chrono::hours(1'000);
  return settings;
}

class Machines : public ::testing::Test {
 protected:
  Machines() {
    plane.create_cluster();
    alter([](model::ClusterState& state) {
      apply(state, model::LaunchConfigurationPut{{.name = "first",
                                                  .id = "lc1",
                                                  .created_at = testing::start_time,
                                                  .instance_type = "p3.8xlarge",
                                                  .user_data = "the user data",
                                                  .echoed = {}}});
      model::AutoScalingGroup group;
      group.name = "gpus";
      group.id = "group-1";
      group.max_size = 10;
      group.launch_configuration = "first";
      group.instance_type = "p3.8xlarge";
      group.tags = {{"team", "vision", true}, {"cost", "12", false}};
      apply(state, model::AutoScalingGroupPut{group});
      model::CapacityProvider provider;
      provider.name = "pool";
      provider.group.auto_scaling_group_arn =
          model::auto_scaling_group_arn({}, group.id, group.name);
      provider.group.managed_scaling.emplace().status = api::ecs::ManagedScalingStatus::Enabled;
      apply(state, model::CapacityProviderPut{provider});
    });
  }

  static void apply(model::ClusterState& state, const model::Change& change) {
    model::apply(state, change);
  }
  // What an operation of the API would have done, and a restart of the control plane.
  void alter(auto&& change) {
    model::ClusterState state = plane.core.state();
    change(state);
    orders.clear();
    plane.core = Core(std::move(state), patient(), ++plane.reseed, plane.now);
  }
  void alter_group(auto&& change) {
    alter([&](model::ClusterState& state) {
      model::AutoScalingGroup altered = state.auto_scaling_groups.at("gpus");
      change(altered);
      apply(state, model::AutoScalingGroupPut{altered});
    });
  }
  void desire(int32_t machines) {
    alter_group([&](model::AutoScalingGroup& altered) { altered.desired_capacity = machines; });
  }
  void restart() {
    alter([](model::ClusterState&) {});
  }

  void step(Input input) {
    for (MachineOrder& order : plane.step(std::move(input)).machine_orders) {
      orders.push_back(std::move(order));
    }
  }
  void report(MachineReport told) { step(std::move(told)); }
  // Every timer that is due, without anybody answering orders.
  void pass(base::Milliseconds by = std::chrono::seconds(1)) {
    const base::Time end = plane.now + by;
    while (plane.core.next_timer() <= end) {
      plane.now = std::max(plane.now, plane.core.next_timer());
      step(TimerDue{});
    }
    plane.now = end;
  }
  // The same, with a machine provider and agents that do what they are asked.
  void run(base::Milliseconds by = std::chrono::seconds(1)) {
    const base::Time end = plane.now + by;
    do {
      const base::Time next = std::clamp(plane.core.next_timer(), plane.now, end);
      pass(next - plane.now);
      while (!orders.empty()) provide();
    } while (plane.now < end);
  }
  void provide() {
    const MachineOrder order = std::move(orders.front());
    orders.pop_front();
    if (const auto* const launch = std::get_if<LaunchMachine>(&order)) {
      const std::string name = std::to_string(++launched);
      report(MachineLaunched{launch->token, "i-" + name});
      plane.register_instance(launch->instance_type, name);
    } else {
      terminated.push_back(std::get<TerminateMachine>(order).id);
      report(MachineTerminated{terminated.back()});
    }
  }
  LaunchMachine next_launch() {
    CHECK(!orders.empty());
    const auto order = std::get<LaunchMachine>(orders.front());
    orders.pop_front();
    return order;
  }

  const model::AutoScalingGroup& group() const {
    return plane.core.state().auto_scaling_groups.at("gpus");
  }
  std::vector<model::MachineState> states() const {
    std::vector<model::MachineState> found;
    for (const model::Machine& machine : group().machines) found.push_back(machine.state);
    return found;
  }
  // The newest first.
  std::vector<model::ScalingActivity> activities() const {
    const auto& kept = plane.core.state().scaling_activities.at("gpus").activities;
    return {kept.rbegin(), kept.rend()};
  }
  const model::ContainerInstance& instance(const std::string& id) const {
    const model::ContainerInstance* found = nullptr;
    for (const auto& [arn, one] : plane.core.state().instances) {
      if (one.ec2_instance_id == id) found = &one;
    }
    CHECK(found != nullptr);
    return *found;
  }
  std::string start_task(const std::string& id) {
    api::ecs::StartTaskRequest request;
    request.task_definition = "train";
    request.container_instances.push_back(instance(id).arn.str());
    const auto started = plane.call<api::ecs::StartTaskResponse>("StartTask", request);
    CHECK(started.has_value() && started->tasks.size() == 1);
    return *started->tasks[0].task_arn;
  }
  void define() {
    plane.define("train", "1");
    restart();
  }
  // A task that waits for the provider.
  void queue(int count) {
    alter([&](model::ClusterState& state) {
      for (int i = 0; i < count; ++i) {
        model::Task task;
        task.arn = model::task_arn({}, model::ClusterName("default"),
                                   "waiting" + std::to_string(++queued));
        task.cluster = model::ClusterName("default");
        task.definition = model::task_definition_arn({}, "train", 1);
        task.group = "family:train";
        task.last_status = model::TaskStatus::Provisioning;
        task.capacity_provider = "pool";
        task.waiting.emplace();
        task.created_at = plane.now;
        apply(state, model::TaskQueued{std::move(task)});
      }
    });
  }

  testing::Plane plane{patient()};
  std::deque<MachineOrder> orders;  // Not answered yet.
  std::vector<std::string> terminated;
  int launched = 0;
  int queued = 0;
};

}  // namespace control
