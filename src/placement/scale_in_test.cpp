#include "placement/scale_in.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "base/format.h"
#include "placement/testing.h"

namespace placement {
namespace {

using test::strategy;
using test::TestCluster;
using Type = api::ecs::PlacementStrategyType;
using Strategies = std::vector<api::ecs::PlacementStrategy>;

// A service of tasks, each put on an instance by hand.
struct Service {
  TestCluster cluster;
  ScaleIn in;
  int tasks = 0;

  void instance(const std::string& id, const std::string& zone, int32_t gpus = 0) {
    test::InstanceShape shape{.id = id, .gpus = gpus};
    if (!zone.empty()) shape.attributes["ecs.availability-zone"] = zone;
    cluster.add(shape);
  }
  std::string task(const std::string& instance, int64_t cpu_units = 100, int64_t memory_mib = 80,
                   std::vector<model::GpuAssignment> gpus = {}) {
    model::Task made;
    const std::string id = base::format("{}-{}", instance, ++tasks);
    made.arn = model::task_arn({}, test::cluster_name, id);
    made.cluster = test::cluster_name;
    made.instance = model::instance_arn({}, test::cluster_name, instance);
    made.group = "service:web";
    made.last_status = model::TaskStatus::Running;
    made.held.cpu_units = cpu_units;
    made.held.memory_mib = memory_mib;
    made.held.gpus = std::move(gpus);
    in.candidates.push_back(made.arn);
    cluster.apply(model::TaskPlaced{std::move(made)});
    return id;
  }
  void strategies(const Strategies& list) {
    in.strategies = {};
    for (const auto& one : list) in.strategies.push_back(one);
  }
  // The instances whose tasks are picked, in order: "b a b".
  std::string picked(size_t count, uint64_t seed = 1) {
    base::Random random(seed);
    const auto arns = pick_scale_in(cluster.state, in, count, random);
    EXPECT_TRUE(arns.has_value());
    std::vector<std::string> names;
    for (const model::TaskArn& arn : *arns) {
      const std::string id(model::short_id(arn.str()));
      names.push_back(id.substr(0, id.rfind('-')));
    }
    return base::format("{}", base::join(names, " "));
  }
};

TEST(ScaleIn, without_a_strategy_the_fullest_zone_then_the_fullest_instance_loses_a_task) {
  Service service;
  service.instance("a", "zone-1");
  service.instance("b", "zone-2");
  service.instance("c", "zone-2");
  for (const char* where : {"a", "a", "b", "c", "c"}) service.task(where);
  // zone-1 has 2, zone-2 has 3, of them 2 on c; then zones are even, and a has 2 tasks of its own.
  for (uint64_t seed = 1; seed < 20; ++seed) EXPECT_EQ(service.picked(2, seed), "c a");
}

TEST(ScaleIn, spread_over_zones_keeps_them_even_and_picks_at_random_inside_one) {
  Service service;
  service.strategies({strategy(Type::Spread, "attribute:ecs.availability-zone")});
  service.instance("a", "zone-1");
  service.instance("b", "zone-2");
  service.instance("c", "zone-2");
  for (const char* where : {"a", "b", "c", "c"}) service.task(where);
  std::set<std::string> seen;
  for (uint64_t seed = 1; seed < 40; ++seed) seen.insert(service.picked(1, seed));
  EXPECT_EQ(seen, (std::set<std::string>{"b", "c"}));
}

TEST(ScaleIn, binpack_stops_where_the_most_of_the_resource_is_left_afterwards) {
  Service service;
  service.instance("a", "zone-1");
  service.instance("b", "zone-1");
  service.task("a", 1000, 8000);
  service.task("b", 3000, 100);
  service.task("b", 3000, 100);
  service.strategies({strategy(Type::Binpack, "cpu")});
  // a: 8192 free afterwards; b: 8192 - 3000.
  EXPECT_EQ(service.picked(1), "a");
  service.strategies({strategy(Type::Binpack, "memory")});
  // a: 32768; b: 32768 - 100.
  EXPECT_EQ(service.picked(3), "a b b");
}

TEST(ScaleIn, binpack_by_gpu_counts_what_the_task_itself_gives_back) {
  Service service;
  service.instance("a", "", 4);
  service.instance("b", "", 4);
  const auto gpu = [](const std::string& instance, int number) {
    return model::GpuAssignment{.container = "main",
                                .gpu = base::format("GPU-{}-{}", instance, number)};
  };
  service.task("a", 100, 80, {gpu("a", 0)});
  service.task("a", 100, 80, {gpu("a", 1)});
  service.task("b", 100, 80, {gpu("b", 0), gpu("b", 1), gpu("b", 2)});
  service.strategies({strategy(Type::Binpack, "gpu")});
  // a: 2 + 1 of 4 afterwards; b: 1 + 3.
  EXPECT_EQ(service.picked(1), "b");
  service.strategies({strategy(Type::Binpack, "gpuMemory")});
  EXPECT_EQ(service.picked(1), "b");
}

TEST(ScaleIn, strategies_refine_one_another_in_order) {
  Service service;
  service.strategies({strategy(Type::Spread, "attribute:ecs.availability-zone"),
                      strategy(Type::Binpack, "memory")});
  service.instance("a", "zone-1");
  service.instance("b", "zone-2");
  service.instance("c", "zone-2");
  service.task("a", 100, 80);
  service.task("b", 100, 4000);
  service.task("b", 100, 4000);
  service.task("c", 100, 4000);
  for (uint64_t seed = 1; seed < 20; ++seed) EXPECT_EQ(service.picked(1, seed), "c");
}

TEST(ScaleIn, instances_without_the_attribute_are_one_more_value) {
  Service service;
  service.strategies({strategy(Type::Spread, "attribute:rack")});
  service.instance("a", "");
  service.instance("b", "");
  service.cluster.add({.id = "c", .attributes = {{"rack", "1"}}});
  for (const char* where : {"a", "b", "c"}) service.task(where);
  for (uint64_t seed = 1; seed < 20; ++seed) EXPECT_NE(service.picked(1, seed), "c");
}

TEST(ScaleIn, tasks_that_must_stay_count_for_the_balance_and_are_never_picked) {
  Service service;
  service.strategies({strategy(Type::Spread, "instanceId")});
  service.instance("a", "");
  service.instance("b", "");
  for (const char* where : {"a", "a", "a", "b", "b"}) service.task(where);
  // Two of the three on a are protected; a is still the fullest.
  service.in.staying = {service.in.candidates[0], service.in.candidates[1]};
  service.in.candidates.erase(service.in.candidates.begin(), service.in.candidates.begin() + 2);
  EXPECT_EQ(service.picked(9), "a b b");
}

TEST(ScaleIn, a_bad_strategy_is_an_error_and_unknown_tasks_are_left_out) {
  Service service;
  service.instance("a", "");
  service.task("a");
  service.in.candidates.emplace_back("arn:aws:ecs:us-east-1:123456789012:task/default/gone");
  EXPECT_EQ(service.picked(5), "a");
  service.strategies({strategy(Type::Binpack, "colour")});
  base::Random random(1);
  const auto refused = pick_scale_in(service.cluster.state, service.in, 1, random);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "InvalidParameterException");
}

// Zones of a spread service are as even as they can be: no zone that lost a task has fewer left
// than another zone has, less one.
RC_GTEST_PROP(ScaleIn, spread_leaves_the_zones_as_even_as_what_was_there_allows, ()) {
  Service service;
  service.strategies({strategy(Type::Spread, "attribute:ecs.availability-zone")});
  const std::vector<std::string> zones = {"z0", "z1", "z2"};
  std::map<std::string, int> before;
  for (const std::string& zone : zones) {
    service.instance("i" + zone, zone);
    const int count = *rc::gen::inRange(0, 8);
    for (int i = 0; i < count; ++i) service.task("i" + zone);
    before[zone] = count;
  }
  const size_t all = service.in.candidates.size();
  const size_t count = *rc::gen::inRange<size_t>(0, all + 1);
  base::Random random(*rc::gen::arbitrary<uint64_t>());
  const auto arns = pick_scale_in(service.cluster.state, service.in, count, random);
  RC_ASSERT(arns->size() == count);
  RC_ASSERT(std::set<model::TaskArn>(arns->begin(), arns->end()).size() == count);
  std::map<std::string, int> after = before;
  for (const model::TaskArn& arn : *arns) {
    --after[std::string(model::short_id(arn.str())).substr(1, 2)];
  }
  for (const std::string& lost : zones) {
    if (after[lost] == before[lost]) continue;
    for (const std::string& other : zones) RC_ASSERT(after[lost] >= after[other] - 1);
  }
}

}  // namespace
}  // namespace placement
