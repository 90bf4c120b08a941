// The engine against the rules written down plainly: every instance is looked at for every task, by
// code that shares nothing with the engine but the records and the query language.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "placement/cores.h"
#include "placement/query/evaluate.h"
#include "placement/query/parser.h"
#include "placement/testing_world.h"

namespace placement::test {
namespace {

using api::ecs::PlacementConstraintType;
using api::ecs::PlacementStrategyType;

bool shareable(const model::GpuSlot& slot) {
  return slot.device.healthy && slot.device.mps_capable &&
         (slot.state == model::GpuState::Idle || slot.state == model::GpuState::NvidiaMps);
}

bool whole(const model::GpuSlot& slot) {
  return slot.device.healthy && slot.state == model::GpuState::Idle;
}

// By trying each GPU for the shares: what is left must do for the whole GPUs.
bool gpus_fit(const model::ContainerInstance& instance, const model::ResourceRequest& request) {
  int64_t wanted = 0;
  bool all = false;
  bool shares = false;
  for (const model::GpuRequest& gpu : request.gpus) {
    if (gpu.kind == model::GpuRequestKind::Count) wanted += gpu.count;
    all |= gpu.kind == model::GpuRequestKind::All;
    shares |= gpu.kind == model::GpuRequestKind::Memory;
    shares |= gpu.kind == model::GpuRequestKind::Fraction;
  }
  const int64_t idle = std::ranges::count_if(instance.gpus, whole);
  if (all && (idle == 0 || idle != static_cast<int64_t>(instance.gpus.size()))) return false;
  if (!shares) return wanted <= idle;
  return std::ranges::any_of(instance.gpus, [&](const model::GpuSlot& slot) {
    if (!shareable(slot) || wanted > idle - whole(slot)) return false;
    int64_t memory = slot.device.memory_mib;
    int64_t milli = 1000;
    for (const model::GpuHolder& holder : slot.holders) {
      memory -= holder.memory_mib;
      milli -= holder.milli;
    }
    for (const model::GpuRequest& gpu : request.gpus) {
      if (gpu.kind == model::GpuRequestKind::Memory) memory -= gpu.memory_mib;
      if (gpu.kind != model::GpuRequestKind::Fraction) continue;
      memory -= slot.device.memory_mib * gpu.milli / 1000;
      milli -= gpu.milli;
    }
    return memory >= 0 && milli >= 0;
  });
}

bool member_of_holds(const model::ClusterState& state, const model::ContainerInstance& instance,
                     const std::string& text) {
  std::vector<std::string> groups;
  for (const model::TaskArn& arn : instance.tasks) groups.push_back(state.tasks.at(arn).group);
  return query::holds(query::parse(text).value(),
                      {.attributes = instance.attributes,
                       .task_groups = groups,
                       .agent_connected = model::agent_answers(instance),
                       .agent_version = instance.agent_version,
                       .ec2_instance_id = instance.ec2_instance_id,
                       .registered_at = instance.registered_at,
                       .running_tasks = instance.running_tasks});
}

int64_t tasks_of_group(const model::ClusterState& state, const model::ContainerInstance& instance,
                       const std::string& group) {
  return std::ranges::count_if(instance.tasks, [&](const model::TaskArn& arn) {
    return state.tasks.at(arn).group == group;
  });
}

bool of_provider(const model::ContainerInstance& instance, const Request& request) {
  if (request.capacity_provider.empty()) return true;
  if (request.capacity_provider == "BERTH_QUEUE") return instance.capacity_provider.empty();
  return instance.capacity_provider == request.capacity_provider;
}

// Of the needs that the worlds of these tests have.
bool allowed(const model::ContainerInstance& instance, const std::string& need) {
  if (!instance.attributes.contains("berth.profile")) return true;
  if (need == "privileged") return instance.attributes.contains("berth.allow.privileged");
  const auto paths = instance.attributes.find("berth.allow.host-paths");
  if (paths == instance.attributes.end()) return false;
  return need == "host-paths /data/x" || need == "host-paths /data";
}

// The first reason that ECS would name; empty: the task fits.
std::string reason_against(const model::ClusterState& state,
                           const model::ContainerInstance& instance, const Request& request) {
  const model::ResourceRequest& resources = request.resources;
  if (!instance.agent_connected) return "AGENT";
  for (const std::string& name : request.required_attributes) {
    if (!instance.attributes.contains(name)) return "ATTRIBUTE";
  }
  for (const std::string& need : request.needs) {
    if (!allowed(instance, need)) return "ATTRIBUTE";
  }
  if (!of_provider(instance, request)) return "ATTRIBUTE";
  if (resources.cpu_units > model::cpu_units_free(instance)) return "RESOURCE:CPU";
  if (resources.memory_mib > model::memory_mib_free(instance)) return "RESOURCE:MEMORY";
  for (const model::HostPort& port : resources.host_ports) {
    if (instance.reserved_ports.contains(port) || instance.ports_held.contains(port)) {
      return "RESOURCE:PORTS";
    }
  }
  if (!gpus_fit(instance, resources)) return "RESOURCE:GPU";
  for (const auto& constraint : request.constraints) {
    if (constraint.type == PlacementConstraintType::MemberOf &&
        !member_of_holds(state, instance, *constraint.expression)) {
      return std::string(reason_constraint);
    }
  }
  for (const auto& constraint : request.constraints) {
    if (constraint.type == PlacementConstraintType::DistinctInstance &&
        tasks_of_group(state, instance, request.group) > 0) {
      return std::string(reason_distinct);
    }
  }
  return "";
}

using Candidates = std::vector<const model::ContainerInstance*>;

int64_t cost_of(const model::ClusterState& state, const model::ContainerInstance& instance,
                const Request& request, const api::ecs::PlacementStrategy& strategy) {
  if (strategy.type == PlacementStrategyType::Random) return 0;
  if (strategy.type == PlacementStrategyType::Binpack) {
    if (*strategy.field == "cpu") return model::cpu_units_free(instance);
    if (*strategy.field == "memory") return model::memory_mib_free(instance);
    return std::ranges::count_if(instance.gpus, whole);
  }
  if (*strategy.field == "instanceId") return tasks_of_group(state, instance, request.group);
  const std::string name = strategy.field->substr(strategy.field->find(':') + 1);
  const auto value_of = [&](const model::ContainerInstance& each) {
    const auto found = each.attributes.find(name);
    return found == each.attributes.end() ? std::string("(none)") : "=" + found->second;
  };
  int64_t sum = 0;
  for (const auto& [arn, each] : state.instances) {
    if (value_of(each) == value_of(instance)) sum += tasks_of_group(state, each, request.group);
  }
  return sum;
}

Candidates candidates_of(const model::ClusterState& state, const Request& request) {
  Candidates candidates;
  for (const auto& [arn, instance] : state.instances) {
    if (instance.status == model::InstanceStatus::Active &&
        reason_against(state, instance, request).empty()) {
      candidates.push_back(&instance);
    }
  }
  const auto answers = [](const auto* each) { return model::agent_answers(*each); };
  if (std::ranges::any_of(candidates, answers)) {
    std::erase_if(candidates, [&](const auto* each) { return !answers(each); });
  }
  for (const auto& strategy : request.strategies) {
    int64_t least = INT64_MAX;
    for (const auto* each : candidates) {
      least = std::min(least, cost_of(state, *each, request, strategy));
    }
    std::erase_if(candidates, [&](const auto* each) {
      return cost_of(state, *each, request, strategy) != least;
    });
  }
  return candidates;
}
// Pinned tasks have cores near their GPUs, and nobody else's.
void expect_cores_apart(const model::ClusterState& state, const model::Task& task) {
  if (task.held.cpuset.empty()) return;
  const CoreSet cores = parse_cpu_list(task.held.cpuset);
  const model::ContainerInstance& instance = state.instances.at(task.instance);
  CoreSet near;
  for (const model::GpuAssignment& held : task.held.gpus) {
    near.add(parse_cpu_list(model::find_gpu(instance, held.gpu)->device.cpu_list));
  }
  CoreSet elsewhere = cores;
  elsewhere.remove(near);
  RC_ASSERT(elsewhere.empty());
  for (const model::TaskArn& arn : instance.tasks) {
    if (arn == task.arn) continue;
    CoreSet rest = cores;
    rest.remove(parse_cpu_list(state.tasks.at(arn).held.cpuset));
    RC_ASSERT(rest == cores);
  }
}

void expect_decision(World& world, const Request& request) {
  const Candidates candidates = candidates_of(world.cluster.state, request);
  std::set<model::InstanceArn> fitting;
  for (const auto* each : candidates) fitting.insert(each->arn);
  const auto task = world.run(request);
  RC_ASSERT(task.has_value() == !fitting.empty());
  if (task) {
    RC_ASSERT(fitting.contains(task->instance));
    RC_ASSERT(task->held.cpu_units == request.resources.cpu_units);
    RC_ASSERT(task->held.memory_mib == request.resources.memory_mib);
    model::check_invariants(world.cluster.state);
    expect_cores_apart(world.cluster.state, *task);
    return;
  }
  for (const Refusal& refusal : world.cluster.refusals()) {
    if (refusal.instance.empty()) continue;
    RC_ASSERT(of_provider(world.cluster.instance(refusal.instance), request));
    RC_ASSERT(refusal.reason == reason_against(world.cluster.state,
                                               world.cluster.instance(refusal.instance), request));
    RC_ASSERT(!refusal.detail.empty());
  }
}

TEST(Reference, the_engine_places_where_the_plain_rules_would) {
  RC_ASSERT(rc::check("any sequence of events", [](uint64_t seed) {
    World world(seed);
    for (int i = 0; i < 120; ++i) {
      if (world.dice.chance(30)) {
        world.disturb();
        continue;
      }
      Request request = world.request();
      if (world.dice.chance(40)) request.strategies = world.strategies();
      expect_decision(world, request);
    }
  }));
}

TEST(Reference, a_start_on_an_instance_is_refused_for_the_plain_reasons) {
  RC_ASSERT(rc::check("any sequence of events", [](uint64_t seed) {
    World world(seed);
    for (int i = 0; i < 60; ++i) {
      world.disturb();
      world.run(world.request());
      Request request = world.request();
      request.constraints = {};
      const model::InstanceArn& arn = world.arns[world.dice.below(world.arns.size())];
      const auto placed = world.cluster.engine.place_on(world.cluster.state, request, arn);
      const std::string reason =
          reason_against(world.cluster.state, world.cluster.instance(arn), request);
      RC_ASSERT(placed.has_value() == reason.empty());
      if (!placed) RC_ASSERT(placed.error().reason == reason);
    }
  }));
}

Request any_request(World& world) {
  Request request = world.request();
  if (world.dice.chance(30)) request.strategies = world.strategies();
  return request;
}

// reset() keeps what was learned of the workload and takes in all else anew. Both worlds learn of
// their instances in the order of the ARNs, which is the order that reset() has: where instances
// became known in another order, ties would rightly go another way.
void expect_equal_decisions(uint64_t seed, Policy policy) {
  World cached(seed);
  World fresh(seed);
  for (World* world : {&cached, &fresh}) {
    world->cluster.engine.set_policy(world->cluster.state, cluster_name, policy);
  }
  for (int i = 0; i < 120; ++i) {
    const bool disturbed = cached.dice.chance(30);
    RC_ASSERT(fresh.dice.chance(30) == disturbed);
    if (disturbed) {
      cached.disturb();
      fresh.disturb();
      continue;
    }
    const Request request = any_request(cached);
    (void)any_request(fresh);  // So that the dice of both stay alike.
    fresh.cluster.engine.reset(fresh.cluster.state);
    const auto one = cached.run(request);
    const auto other = fresh.run(request);
    RC_ASSERT(one.has_value() == other.has_value());
    if (!one) continue;
    RC_ASSERT(one->instance == other->instance);
    RC_ASSERT(one->held == other->held);
  }
}

TEST(Reference, what_is_cached_never_changes_a_decision) {
  for (const Policy policy : {Policy::Berth, Policy::Fgd, Policy::BestFit, Policy::Random}) {
    RC_ASSERT(rc::check(std::string(to_string(policy)),
                        [&](uint64_t seed) { expect_equal_decisions(seed, policy); }));
  }
}

}  // namespace
}  // namespace placement::test
