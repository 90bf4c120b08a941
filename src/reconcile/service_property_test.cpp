// Random lives of a service: within its limits at each decision, and at rest in the end.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reconcile/reconcile.h"
#include "reconcile/rolling.h"
#include "reconcile/testing.h"

namespace reconcile {
namespace {

using testing::source_of;
using testing::World;

// One thing that happens to a service.
void happen(World& world, uint32_t kind, uint32_t pick) {
  const auto some_task = [&]() -> std::optional<model::TaskArn> {
    const auto tasks = world.tasks();
    if (tasks.empty()) return std::nullopt;
    const auto arn = tasks[pick % tasks.size()];
    const model::Task& task = world.state.tasks.at(arn);
    if (task.waiting || !world.state.instances.at(task.instance).agent_connected) {
      return std::nullopt;
    }
    return arn;
  };
  auto instance = world.state.instances.begin();
  std::advance(instance, static_cast<int64_t>(pick % world.state.instances.size()));
  switch (kind % 9) {
    case 0:
    case 1:
      world.report_all();
      return;
    case 2:
      if (const auto task = some_task()) world.end(*task);
      return;
    case 3:
      world.deploy(source_of(world.define(pick % 2 == 0 ? 1 : 0)));
      return;
    case 4:
      world.update(
          [&](model::Service& service) { service.desired_count = static_cast<int32_t>(pick % 9); });
      return;
    case 5:
      world.apply(model::InstanceStatusChanged{
          instance->first, instance->second.status == model::InstanceStatus::Active
                               ? model::InstanceStatus::Draining
                               : model::InstanceStatus::Active});
      return;
    case 6:
      world.apply(model::AgentConnectionChanged{
          instance->first, !instance->second.agent_connected, {}, world.now});
      return;
    case 7:
      if (const auto task = some_task()) {
        world.apply(model::TaskProtectionSet{*task, world.now + std::chrono::minutes(pick % 5)});
      }
      return;
    default:
      world.now += std::chrono::seconds(pick % 400);
      return;
  }
}

void heal(World& world) {
  for (auto it = world.state.instances.begin(); it != world.state.instances.end(); ++it) {
    const model::InstanceArn arn = it->first;
    if (it->second.status != model::InstanceStatus::Active) {
      world.apply(model::InstanceStatusChanged{arn, model::InstanceStatus::Active});
    }
    if (!it->second.agent_connected) {
      world.apply(model::AgentConnectionChanged{arn, true, {}, world.now});
    }
  }
}

// World checks the minimum and the maximum at each decision.
RC_GTEST_PROP(Service, keeps_its_limits_converges_and_then_rests, (uint64_t seed)) {
  World world(seed);
  for (const char* id : {"i", "j", "k"}) {
    world.add_instance(id, 8, std::string(id) == "i" ? "a" : "b");
  }
  const auto desired = *rc::gen::inRange(0, 9);
  const auto minimum = *rc::gen::element(0, 33, 50, 100);
  const auto maximum = *rc::gen::element(101, 125, 150, 200);
  world.create(desired, minimum, maximum, 1);
  world.queues = *rc::gen::arbitrary<bool>();
  const bool rebalances = *rc::gen::arbitrary<bool>();
  if (rebalances) {
    world.update([](model::Service& service) {
      service.zone_rebalancing = api::ecs::AvailabilityZoneRebalancing::Enabled;
    });
  }
  const auto events = *rc::gen::container<std::vector<std::pair<uint32_t, uint32_t>>>(
      rc::gen::pair(rc::gen::arbitrary<uint32_t>(), rc::gen::arbitrary<uint32_t>()));
  for (const auto& [kind, pick] : events) {
    happen(world, kind, pick);
    world.pass();
    model::check_invariants(world.state);
    RC_ASSERT(!::testing::Test::HasFailure());
  }
  heal(world);
  // A maximum that leaves no room above a minimum of everything cannot roll, on ECS neither.
  const Limits limits = limits_of(world.service(), world.service().desired_count);
  RC_PRE(limits.lower < limits.upper || world.service().deployments.size() == 1);
  world.run(400);
  RC_ASSERT(world.running_count() == world.service().desired_count);
  RC_ASSERT(world.service().deployments.size() == 1u);
  RC_ASSERT(world.service().steady);
  for (int i = 0; i < 5; ++i) {
    world.now += std::chrono::minutes(7);
    RC_ASSERT(!world.pass());
  }
}

}  // namespace
}  // namespace reconcile
