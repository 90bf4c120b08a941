// A control plane with Auto Scaling groups, capacity providers and waiting tasks in a test's hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "control/testing.h"

namespace control::testing {

inline api::ecs::CapacityProviderStrategyItem strategy_item(std::string provider,
                                                            std::optional<int32_t> weight = 1,
                                                            std::optional<int32_t> base = {}) {
  api::ecs::CapacityProviderStrategyItem made;
  made.capacity_provider = std::move(provider);
  made.weight = weight;
  made.base = base;
  return made;
}

// What a fixture with a `plane` needs besides.
template <class Fixture>
class WithCapacity : public Fixture {
 protected:
  using Fixture::plane;

  // The control plane restarts, with what it would load: of waiting tasks only what is durable.
  void anew() {
    model::ClusterState state = plane.core.state();
    for (auto& [arn, task] : state.tasks) task.wait_reason = task.wait_detail = {};
    set_state(std::move(state));
  }
  void set_state(model::ClusterState state) {
    Settings settings;
    settings.connect_grace = std::chrono::hours(1000);  // Its agents never open a session.
    settings.instance_lost_after = std::chrono::hours(1000);
    plane.core = Core(std::move(state), settings, ++plane.reseed, plane.now);
  }

  // A group whose machines are of the type and have these ids, without machinery behind it.
  std::string add_group(const std::string& name, const std::string& type,
                        const std::vector<std::string>& machines = {}) {
    model::AutoScalingGroup group;
    group.name = name;
    group.id = "id-of-" + name;
    group.instance_type = type;
    group.created_at = plane.now;
    group.max_size = 10;
    group.desired_capacity = group.min_size = static_cast<int32_t>(machines.size());
    for (const std::string& id : machines) {
      model::Machine machine;
      machine.token = machine.id = id;
      machine.instance_type = type;
      machine.state = model::MachineState::Pending;  // Until its instance has registered.
      machine.created_at = machine.changed_at = plane.now;
      group.machines.push_back(std::move(machine));
    }
    model::ClusterState state = plane.core.state();
    model::apply(state, model::AutoScalingGroupPut{group});
    set_state(std::move(state));
    return model::auto_scaling_group_arn({}, group.id, name);
  }

  base::Result<api::ecs::CreateCapacityProviderResponse> create_provider(
      const std::string& name, const std::string& group_arn) {
    api::ecs::CreateCapacityProviderRequest request;
    request.name = name;
    request.auto_scaling_group_provider.emplace();
    request.auto_scaling_group_provider->auto_scaling_group_arn = group_arn;
    return plane.template call<api::ecs::CreateCapacityProviderResponse>("CreateCapacityProvider",
                                                                         request);
  }
  base::Result<api::ecs::PutClusterCapacityProvidersResponse> put(
      const std::vector<std::string>& providers,
      const api::List<api::ecs::CapacityProviderStrategyItem>& strategy = {}) {
    api::ecs::PutClusterCapacityProvidersRequest request;
    request.cluster = "default";
    request.capacity_providers = providers;
    request.default_capacity_provider_strategy = strategy;
    return plane.template call<api::ecs::PutClusterCapacityProvidersResponse>(
        "PutClusterCapacityProviders", request);
  }
  // A capacity provider over a group of its own, of the cluster "default".
  void have_provider(const std::string& name, const std::string& type = "p3.8xlarge",
                     const std::vector<std::string>& machines = {}) {
    ASSERT_TRUE(create_provider(name, add_group("group-" + name, type, machines)).has_value());
    std::vector<std::string> all =
        plane.core.state().clusters.at(model::ClusterName("default")).capacity_providers;
    all.push_back(name);
    ASSERT_TRUE(put(all).has_value());
  }

  base::Result<api::ecs::RunTaskResponse> run_tasks(
      const std::string& family, int32_t count,
      const api::List<api::ecs::CapacityProviderStrategyItem>& strategy) {
    api::ecs::RunTaskRequest request;
    request.task_definition = family;
    request.count = count;
    request.capacity_provider_strategy = strategy;
    return plane.template call<api::ecs::RunTaskResponse>("RunTask", request);
  }
  std::string status_of(const std::string& task) { return *plane.describe(task).last_status; }
  size_t waiting() {
    const auto& all = plane.core.state().waiting_tasks;
    const auto found = all.find(model::ClusterName("default"));
    return found == all.end() ? 0 : found->second.size();
  }
};

class WithPlane : public ::testing::Test {
 protected:
  Plane plane;
};

class Capacity : public WithCapacity<WithPlane> {
 protected:
  void SetUp() override {
    plane.create_cluster();
    plane.define("one", "1");
    plane.define("four", "4");
    plane.define("sixty-four", "64");
    plane.define("cpu", "");
    anew();
  }
};

}  // namespace control::testing
