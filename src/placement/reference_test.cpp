// The engine against the rules written down plainly: every instance is looked at for every task, by
// code that shares nothing with the engine but the records and the query language.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/format.h"
#include "placement/query/evaluate.h"
#include "placement/query/parser.h"
#include "placement/testing.h"

namespace placement::test {
namespace {

using api::ecs::PlacementConstraintType;
using api::ecs::PlacementStrategyType;

bool shareable(const model::GpuSlot& slot) {
  return slot.device.healthy && (slot.device.mps_capable || slot.device.emulated) &&
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
  return query::holds(query::parse(text).value(), {.attributes = instance.attributes,
                                                   .task_groups = groups,
                                                   .agent_connected = instance.agent_connected,
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

// The first reason that ECS would name; empty: the task fits.
std::string reason_against(const model::ClusterState& state,
                           const model::ContainerInstance& instance, const Request& request) {
  const model::ResourceRequest& resources = request.resources;
  if (!instance.agent_connected) return "AGENT";
  for (const std::string& name : request.required_attributes) {
    if (!instance.attributes.contains(name)) return "ATTRIBUTE";
  }
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
  for (const auto& strategy : request.strategies) {
    int64_t least = INT64_MAX;
    for (const auto* each : candidates)
      least = std::min(least, cost_of(state, *each, request, strategy));
    std::erase_if(candidates, [&](const auto* each) {
      return cost_of(state, *each, request, strategy) != least;
    });
  }
  return candidates;
}

// A small world of random instances, on which random things happen.
class World {
 public:
  explicit World(uint64_t seed) : dice(seed) {
    for (uint64_t i = 0; i < 2 + dice.below(10); ++i) add(base::format("{:02}", i));
  }

  void add(const std::string& id) {
    model::ContainerInstance instance;
    instance.cpu_units = static_cast<int64_t>(1024 * (1 + dice.below(8)));
    instance.memory_mib = static_cast<int64_t>(1000 * (1 + dice.below(8)));
    instance.agent_version = "1.2.3";
    if (dice.chance(70)) instance.attributes["zone"] = dice.chance(50) ? "a" : "b";
    if (dice.chance(30)) instance.attributes["big"] = "";
    if (dice.chance(30)) instance.reserved_ports.insert({.port = 80});
    const uint64_t gpus = dice.chance(30) ? 0 : 1 + dice.below(8);
    const bool mps = dice.chance(80);
    for (uint64_t i = 0; i < gpus; ++i) {
      model::GpuDevice& device = instance.gpus.emplace_back().device;
      device.uuid = base::format("GPU-{}-{}", id, i);
      device.memory_mib = 10007;
      device.mps_capable = mps;
      device.healthy = !dice.chance(5);
    }
    arns.push_back(cluster.add(id, instance));
  }

  Request request() {
    Request made = gpu_request(0, static_cast<int64_t>(128 * dice.below(12)),
                               static_cast<int64_t>(100 * dice.below(12)));
    const uint64_t kind = dice.below(6);
    if (kind == 1)
      made.resources.gpus = gpu_request(1 + static_cast<uint32_t>(dice.below(4))).resources.gpus;
    if (kind == 2)
      made.resources.gpus =
          fraction_request(static_cast<int32_t>(100 * (1 + dice.below(9)))).resources.gpus;
    if (kind == 3)
      made.resources.gpus =
          share_request(static_cast<int64_t>(1000 * (1 + dice.below(10)))).resources.gpus;
    if (kind == 4) made.resources.gpus = {all_gpus("main")};
    if (kind >= 1 && kind <= 3 && dice.chance(20)) {
      model::GpuRequest second = made.resources.gpus[0];
      second.container = "second";
      made.resources.gpus.push_back(second);
    }
    if (kind == 3 && dice.chance(20)) {
      model::GpuRequest second = gpu_request(1).resources.gpus[0];
      second.container = "third";
      made.resources.gpus.push_back(second);
    }
    if (dice.chance(20))
      made.resources.host_ports = {{.port = static_cast<uint16_t>(79 + dice.below(3))}};
    if (dice.chance(15)) made.required_attributes = {"big"};
    made.group = dice.chance(50) ? "family:x" : "family:y";
    if (dice.chance(20)) made.constraints.push_back(member_of("attribute:zone == a"));
    if (dice.chance(10)) made.constraints.push_back(member_of("task:group != family:x"));
    if (dice.chance(10)) made.constraints.push_back(member_of("runningTasksCount < 3"));
    if (dice.chance(10)) made.constraints.push_back(distinct_instance());
    return made;
  }

  api::List<api::ecs::PlacementStrategy> strategies() {
    api::List<api::ecs::PlacementStrategy> list;
    const uint64_t count = 1 + dice.below(3);
    for (uint64_t i = 0; i < count; ++i) {
      const api::ecs::PlacementStrategy all[] = {
          strategy(PlacementStrategyType::Spread, "instanceId"),
          strategy(PlacementStrategyType::Spread, "attribute:zone"),
          strategy(PlacementStrategyType::Binpack, "cpu"),
          strategy(PlacementStrategyType::Binpack, "memory"),
          strategy(PlacementStrategyType::Binpack, "gpu"),
      };
      list.push_back(all[dice.below(std::size(all))]);
    }
    return list;
  }

  // Something else than a placement happens.
  void disturb() {
    const model::InstanceArn& arn = arns[dice.below(arns.size())];
    switch (dice.below(8)) {
      case 0:
        cluster.connect(arn, dice.chance(60));
        break;
      case 1:
        cluster.apply(model::AttributesPut{.arn = arn,
                                           .attributes = {{"zone", dice.chance(50) ? "a" : "b"}}});
        break;
      case 2:
        cluster.apply(model::AttributesDeleted{.arn = arn, .names = {"zone"}});
        break;
      case 3:
        if (arns.size() < 20) add(base::format("{:02}", 30 + arns.size()));
        break;
      case 4:
        for (const model::GpuSlot& slot : cluster.instance(arn).gpus) {
          if (!slot.holders.empty() || slot.state == model::GpuState::Quarantined) continue;
          cluster.apply(model::GpuQuarantined{.arn = arn, .gpu = slot.device.uuid, .reason = "x"});
          break;
        }
        break;
      default:
        stop_some_task();
    }
  }

  void stop_some_task() {
    if (running.empty()) return;
    const size_t which = dice.below(running.size());
    const model::TaskArn arn = running[which];
    if (cluster.state.tasks.at(arn).desired_status != model::TaskStatus::Stopped) {
      cluster.request_stop(arn);
      return;
    }
    cluster.stopped(arn);
    running.erase(running.begin() + static_cast<std::ptrdiff_t>(which));
  }

  std::optional<model::Task> run(const Request& request) {
    auto task = cluster.run(request);
    if (task) running.push_back(task->arn);
    return task;
  }

  base::Random dice;
  TestCluster cluster;
  std::vector<model::InstanceArn> arns;
  std::vector<model::TaskArn> running;
};

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
    return;
  }
  for (const Refusal& refusal : world.cluster.refusals()) {
    if (refusal.instance.empty()) continue;
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

// Fragmentation Gradient Descent from the paper's formulas.
struct PlainKind {
  int64_t cpu = 0;
  int32_t milli = 0;
  int32_t gpus = 0;
  double weight = 0;
};

double plain_fragments(int64_t cpu, const std::vector<int32_t>& free,
                       const std::vector<PlainKind>& mix) {
  double sum = 0;
  double idle = 0;
  for (const int32_t each : free) idle += each;
  for (const PlainKind& kind : mix) {
    const auto enough =
        std::ranges::count_if(free, [&](int32_t each) { return each >= kind.milli; });
    if (kind.gpus == 0 || cpu < kind.cpu || enough < kind.gpus) {
      sum += kind.weight * idle;
      continue;
    }
    for (const int32_t each : free) sum += each < kind.milli ? kind.weight * each : 0;
  }
  return sum;
}

struct PlainInstance {
  int64_t cpu = 0;
  std::vector<int32_t> free;
};

int plain_level(double before, double after) {
  return static_cast<int>(100 / (1 + std::exp(-(before - after) / 1000)) + 1e-7);
}

// The instance and the level; -1: none.
std::pair<int, int> plain_choice(const std::vector<PlainInstance>& instances, const PlainKind& task,
                                 const std::vector<PlainKind>& mix, int& card) {
  std::pair<int, int> best{-1, -1};
  for (size_t n = 0; n < instances.size(); ++n) {
    const PlainInstance& instance = instances[n];
    if (instance.cpu < task.cpu) continue;
    const double before = plain_fragments(instance.cpu, instance.free, mix);
    const auto consider = [&](const std::vector<int32_t>& free, int used) {
      const int level = plain_level(before, plain_fragments(instance.cpu - task.cpu, free, mix));
      if (level <= best.second) return;
      best = {static_cast<int>(n), level};
      card = used;
    };
    if (task.gpus == 0) {
      consider(instance.free, -1);
    } else if (task.milli < 1000) {
      for (size_t i = 0; i < instance.free.size(); ++i) {
        if (instance.free[i] < task.milli) continue;
        std::vector<int32_t> free = instance.free;
        free[i] -= task.milli;
        consider(free, static_cast<int>(i));
      }
    } else {
      std::vector<int32_t> free = instance.free;
      int missing = task.gpus;
      for (int32_t& each : free) {
        if (missing == 0 || each != 1000) continue;
        each = 0;
        --missing;
      }
      if (missing == 0) consider(free, -1);
    }
  }
  return best;
}

Request request_of_kind(const PlainKind& kind) {
  Request request = kind.gpus == 0       ? gpu_request(0)
                    : kind.milli == 1000 ? gpu_request(static_cast<uint32_t>(kind.gpus))
                                         : fraction_request(kind.milli);
  request.resources.cpu_units = kind.cpu;
  request.resources.memory_mib = 0;
  return request;
}

TEST(Reference, fgd_chooses_by_the_formulas_of_its_paper) {
  RC_ASSERT(rc::check("any cluster and tasks", [](uint64_t seed) {
    base::Random dice(seed);
    TestCluster cluster;
    cluster.engine.set_policy(cluster.state, cluster_name, Policy::Fgd);
    std::vector<PlainInstance> plain;
    for (int n = 0; n < 8; ++n) {
      const auto gpus = static_cast<int32_t>(dice.below(9));
      const auto cpu = static_cast<int64_t>(4000 * (1 + dice.below(8)));
      cluster.add(
          {.id = base::format("{}", n), .cpu_units = cpu, .gpus = gpus, .gpu_memory_mib = 10000});
      plain.push_back({cpu, std::vector<int32_t>(static_cast<size_t>(gpus), 1000)});
    }
    // Each kind once: 95 % of twenty is all but one of equals, so the mix is all of ten.
    std::vector<PlainKind> mix;
    std::set<std::tuple<int64_t, int32_t, int32_t>> seen;
    while (mix.size() < 10) {
      PlainKind kind{.cpu = static_cast<int64_t>(1000 * dice.below(9))};
      kind.gpus = dice.chance(20)   ? 0
                  : dice.chance(70) ? 1
                                    : static_cast<int32_t>(1 << dice.below(4));
      if (kind.gpus > 0)
        kind.milli = kind.gpus > 1 || dice.chance(40)
                         ? 1000
                         : static_cast<int32_t>(50 * (1 + dice.below(19)));
      if (!seen.insert({kind.cpu, kind.milli, kind.gpus}).second) continue;
      kind.weight = 0.1;
      mix.push_back(kind);
    }
    std::vector<Request> workload;
    for (const PlainKind& kind : mix) workload.push_back(request_of_kind(kind));
    cluster.engine.set_workload(cluster_name, workload);
    for (int i = 0; i < 60; ++i) {
      const PlainKind& kind = mix[dice.below(mix.size())];
      int card = -1;
      const auto [chosen, level] = plain_choice(plain, kind, mix, card);
      const auto task = cluster.run(request_of_kind(kind));
      RC_ASSERT(task.has_value() == (chosen >= 0));
      if (!task) continue;
      RC_ASSERT(model::short_id(task->instance.str()) == base::format("{}", chosen));
      PlainInstance& instance = plain[static_cast<size_t>(chosen)];
      instance.cpu -= kind.cpu;
      if (card >= 0) {
        RC_ASSERT(held_gpus(task->held) == base::format("GPU-{}", card));
        instance.free[static_cast<size_t>(card)] -= kind.milli;
        continue;
      }
      int missing = kind.gpus;
      for (int32_t& each : instance.free) {
        if (missing == 0 || each != 1000) continue;
        each = 0;
        --missing;
      }
    }
  }));
}

}  // namespace
}  // namespace placement::test
