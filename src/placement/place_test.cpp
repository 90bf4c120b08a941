#include "placement/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/capabilities.h"
#include "model/catalogue.h"
#include "placement/explain.h"
#include "placement/testing.h"

namespace placement::test {
namespace {

using api::ecs::PlacementStrategyType;
using ::testing::HasSubstr;

void expect_refused(TestCluster& cluster, const Request& request, std::string_view reason,
                    std::string_view detail) {
  EXPECT_FALSE(cluster.run(request).has_value());
  ASSERT_FALSE(cluster.refusals().empty());
  EXPECT_EQ(cluster.refusals()[0].reason, reason);
  EXPECT_THAT(cluster.refusals()[0].detail, HasSubstr(detail));
}

TEST(Place, a_task_takes_all_that_it_asks_for) {
  TestCluster cluster;
  const auto arn = cluster.add({.id = "a", .gpus = 4});
  Request request = gpu_request(2, 1024, 2048);
  request.resources.host_ports = {{.port = 80}};
  const auto task = cluster.run(request);
  ASSERT_TRUE(task.has_value());
  EXPECT_EQ(task->instance, arn);
  EXPECT_EQ(task->held.cpu_units, 1024);
  EXPECT_EQ(task->held.memory_mib, 2048);
  EXPECT_EQ(task->held.host_ports, request.resources.host_ports);
  ASSERT_EQ(task->held.gpus.size(), 2U);
  EXPECT_EQ(task->held.gpus[0], (model::GpuAssignment{.container = "main", .gpu = "GPU-a-0"}));
  EXPECT_EQ(task->held.gpus[1].gpu, "GPU-a-1");
  model::check_invariants(cluster.state);
}

TEST(Place, two_tasks_never_get_the_same_gpu) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  EXPECT_EQ(held_gpus(cluster.run(gpu_request(2))->held), "GPU-0 GPU-1");
  EXPECT_EQ(held_gpus(cluster.run(gpu_request(1))->held), "GPU-2");
  expect_refused(cluster, gpu_request(2), "RESOURCE:GPU", "needs 2 GPUs; 1 free of 4.");
}

TEST(Place, a_gpu_is_not_free_before_its_task_has_stopped) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 8});
  cluster.run(gpu_request(4));
  const auto task = cluster.run(gpu_request(1));
  cluster.request_stop(task->arn);
  expect_refused(cluster, gpu_request(4), "RESOURCE:GPU",
                 "The task needs 4 GPUs; 3 free of 8, 1 releasing.");
  cluster.stopped(task->arn);
  EXPECT_TRUE(cluster.run(gpu_request(4)).has_value());
}

TEST(Place, quarantined_and_unhealthy_gpus_are_not_given_out) {
  TestCluster cluster;
  const auto arn = cluster.add({.id = "a", .gpus = 2});
  cluster.apply(model::GpuQuarantined{.arn = arn, .gpu = "GPU-a-0", .reason = "in use"});
  EXPECT_EQ(held_gpus(cluster.run(gpu_request(1))->held), "GPU-1");
  expect_refused(cluster, gpu_request(1), "RESOURCE:GPU",
                 "needs 1 GPU; 0 free of 2, 1 quarantined.");
  model::ContainerInstance sick;
  sick.cpu_units = sick.memory_mib = 4096;
  sick.gpus.resize(1);
  sick.gpus[0].device = {.uuid = "GPU-sick-0", .healthy = false};
  const auto sick_arn = cluster.add("b", sick);
  EXPECT_FALSE(cluster.run(gpu_request(1)).has_value());
  EXPECT_EQ(cluster.refusals().size(), 2U);
  EXPECT_EQ(cluster.engine.place_on(cluster.state, gpu_request(1), sick_arn).error().detail,
            "The task needs 1 GPU; 0 free of 1, 1 unhealthy.");
}

TEST(Place, the_first_of_cpu_memory_ports_gpu_is_the_reason_and_the_detail_names_all) {
  TestCluster cluster;
  cluster.add({.id = "a", .cpu_units = 1024, .memory_mib = 1024, .gpus = 1});
  Request first = gpu_request(1, 512, 512);
  first.resources.host_ports = {{.port = 80}};
  ASSERT_TRUE(cluster.run(first).has_value());
  Request request = gpu_request(1, 1000, 1000);
  request.resources.host_ports = {{.port = 80}, {.port = 80, .udp = true}};
  expect_refused(cluster, request, "RESOURCE:CPU",
                 "The task needs 1000 CPU units; 512 free of 1024. It needs 1000 MiB of memory; "
                 "512 free of 1024. It needs host port 80/tcp, which is taken. It needs 1 GPU; 0 "
                 "free of 1.");
  request.resources.cpu_units = 100;
  expect_refused(cluster, request, "RESOURCE:MEMORY", "host port");
  request.resources.memory_mib = 100;
  expect_refused(cluster, request, "RESOURCE:PORTS", "needs 1 GPU");
  request.resources.host_ports = {};
  expect_refused(cluster, request, "RESOURCE:GPU", "The task needs 1 GPU; 0 free of 1.");
  request.resources.cpu_units = 2048;
  expect_refused(cluster, request, "RESOURCE:CPU", "the instance has 1024 in all");
}

TEST(Place, a_machine_gets_only_tasks_that_its_bounds_permit) {
  TestCluster cluster;
  cluster.add({.id = "a", .attributes = {{"berth.profile", "shared"}}});
  cluster.add({.id = "b",
               .attributes = {{"berth.profile", "shared"}, {"berth.allow.host-paths", "/data"}}});
  EXPECT_TRUE(cluster.run(gpu_request(0)).has_value());
  Request request = gpu_request(0);
  request.needs = {"privileged"};
  expect_refused(cluster, request, "ATTRIBUTE",
                 "privileged is not allowed on the instance (berth agent --allow privileged).");
  request.needs = {"host-paths /data/set", "host-paths /database"};
  expect_refused(cluster, request, "ATTRIBUTE", "host path /database is not allowed");
  request.needs = {"host-paths /data/set"};
  EXPECT_TRUE(cluster.run(request).has_value());
  const auto explained = cluster.engine.explain(cluster.state, request);
  ASSERT_TRUE(explained.has_value());
  const auto told = std::ranges::find(explained->steps, "ATTRIBUTE", &ExplainedStep::reason);
  ASSERT_NE(told, explained->steps.end());
  EXPECT_EQ(told->subject,
            "host path /data/set is not allowed (berth agent --allow host-paths=/data/set)");
}

TEST(Place, a_reserved_port_is_taken) {
  TestCluster cluster;
  model::ContainerInstance instance;
  instance.cpu_units = instance.memory_mib = 4096;
  instance.reserved_ports = {{.port = 22}};
  cluster.add("a", instance);
  Request request = gpu_request(0);
  request.resources.host_ports = {{.port = 22}};
  expect_refused(cluster, request, "RESOURCE:PORTS", "needs host port 22/tcp, which is taken");
  request.resources.host_ports = {{.port = 22, .udp = true}};
  EXPECT_TRUE(cluster.run(request).has_value());
  request.resources.host_ports = {{.port = 70}, {.port = 70}};
  expect_refused(cluster, request, "RESOURCE:PORTS", "two containers of the task ask for the same");
}

TEST(Place, more_gpus_than_any_instance_has_is_said_so) {
  TestCluster cluster;
  cluster.add({.id = "cpu"});
  expect_refused(cluster, gpu_request(1), "RESOURCE:GPU",
                 "needs 1 GPU; no instance has a whole GPU");
  cluster.add({.id = "four", .gpus = 4});
  cluster.add({.id = "two", .gpus = 2});
  expect_refused(cluster, gpu_request(16), "RESOURCE:GPU",
                 "needs 16 GPUs; no instance has more than 4");
}

TEST(Place, the_nearest_fit_is_named_first) {
  TestCluster cluster;
  cluster.add({.id = "cpu"});
  const auto four = cluster.add({.id = "four", .gpus = 4});
  cluster.add({.id = "two", .gpus = 2});
  EXPECT_EQ(cluster.run(gpu_request(3))->instance, four);
  EXPECT_FALSE(cluster.run(gpu_request(4)).has_value());
  ASSERT_EQ(cluster.refusals().size(), 3U);
  EXPECT_EQ(cluster.refusals()[0].instance, four);
  EXPECT_EQ(cluster.engine.place(cluster.state, gpu_request(4), cluster.random).error().size(), 1U);
}

TEST(Place, a_full_instance_is_nearer_than_one_that_is_away) {
  TestCluster cluster;
  const auto away = cluster.add({.id = "away", .gpus = 4});
  const auto full = cluster.add({.id = "full", .gpus = 4});
  cluster.connect(away, false);
  EXPECT_EQ(cluster.run(gpu_request(4))->instance, full);
  expect_refused(cluster, gpu_request(1), "RESOURCE:GPU", "0 free of 4");
  EXPECT_EQ(cluster.refusals()[0].instance, full);
}

TEST(Place, an_instance_that_answers_goes_before_one_that_has_fallen_silent) {
  for (const PlacementStrategyType type :
       {PlacementStrategyType::Binpack, PlacementStrategyType::Spread}) {
    TestCluster cluster;
    const auto silent = cluster.add({.id = "a", .gpus = 1});
    const auto answers = cluster.add({.id = "b", .gpus = 4});
    Request with_strategy = gpu_request(1);
    with_strategy.strategies = {
        strategy(type, type == PlacementStrategyType::Spread ? "instanceId" : "gpu")};
    cluster.fall_silent(silent);
    EXPECT_EQ(cluster.run(gpu_request(1))->instance, answers);
    EXPECT_EQ(cluster.run(with_strategy)->instance, answers);
    cluster.run(gpu_request(2));
    EXPECT_EQ(cluster.run(with_strategy)->instance, silent) << "rather there than nowhere";
  }
}

TEST(Place, an_agent_that_comes_back_is_as_good_as_before) {
  TestCluster cluster;
  const auto first = cluster.add({.id = "a", .gpus = 1});
  cluster.add({.id = "b", .gpus = 1});
  cluster.fall_silent(first);
  cluster.connect(first, true);
  EXPECT_EQ(cluster.run(gpu_request(1))->instance, first);
}

TEST(Place, a_share_as_large_as_the_data_sheet_says_is_told_what_the_gpu_has) {
  TestCluster cluster;
  cluster.add({.id = "t4", .gpus = 1, .gpu_memory_mib = 15360});
  expect_refused(cluster, share_request(16384), "RESOURCE:GPU",
                 "needs 16384 MiB of one GPU; the largest GPU of the instance has 15360 MiB (a "
                 "driver keeps some of what data sheets say); ask for \"15360MiB\" or for a whole "
                 "GPU.");
  EXPECT_TRUE(cluster.run(share_request(15360)).has_value());
}

TEST(Place, instances_that_are_away_draining_or_elsewhere_get_nothing) {
  TestCluster cluster;
  expect_refused(cluster, gpu_request(0), "NO ACTIVE INSTANCES", "Cluster default has no ACTIVE");
  model::ContainerInstance draining;
  draining.cpu_units = draining.memory_mib = 4096;
  draining.status = model::InstanceStatus::Draining;
  const auto draining_arn = cluster.add("draining", draining);
  expect_refused(cluster, gpu_request(0), "NO ACTIVE INSTANCES", "");
  const auto arn = cluster.add({.id = "a"});
  cluster.connect(arn, false);
  expect_refused(cluster, gpu_request(0), "AGENT",
                 "The agent of the instance is not connected: The network is down.");
  cluster.connect(arn, true);
  EXPECT_TRUE(cluster.run(gpu_request(0)).has_value());
  Request elsewhere = gpu_request(0);
  elsewhere.cluster = model::ClusterName("other");
  expect_refused(cluster, elsewhere, "NO ACTIVE INSTANCES", "Cluster other");
  EXPECT_EQ(cluster.engine.place_on(cluster.state, elsewhere, arn).error().reason, "MISSING");
  EXPECT_EQ(cluster.engine.place_on(cluster.state, gpu_request(0), draining_arn).error().reason,
            "INACTIVE");
  EXPECT_EQ(cluster.engine.place_on(cluster.state, gpu_request(0), arn)->instance, arn);
}

TEST(Place, required_attributes_and_the_launch_type_must_be_there) {
  TestCluster cluster;
  cluster.add({.id = "a", .attributes = {{"have", ""}}});
  Request request = gpu_request(0);
  request.required_attributes = {"have", "lack"};
  expect_refused(cluster, request, "ATTRIBUTE", "lacks the attribute lack.");
  request.required_attributes = {"have"};
  request.launch_type = "EXTERNAL";
  expect_refused(cluster, request, "ATTRIBUTE", "needs launch type EXTERNAL");
  EXPECT_THAT(cluster.refusals()[0].detail, ::testing::Not(HasSubstr("lacks the attribute")));
  request.launch_type = "EC2";
  EXPECT_TRUE(cluster.run(request).has_value());
  request.required_attributes = {std::string(model::attribute_berth_agent)};
  expect_refused(cluster, request, "ATTRIBUTE", "The task needs Berth's own agent");
  // Nobody is told to set by hand what an agent tells of itself.
  for (const char* const name : {"berth.agent", "ecs.capability.task-eni"}) {
    request.required_attributes = {name};
    const auto explanation = explain(cluster.engine, cluster.state, request);
    ASSERT_EQ(explanation->changes.size(), 1U);
    EXPECT_EQ(explanation->changes[0].kind, ExplainedChangeKind::AddInstance) << name;
  }
}

TEST(Place, a_capacity_provider_has_its_own_instances_and_the_queue_those_of_none) {
  TestCluster cluster;
  model::ContainerInstance machine;
  machine.cpu_units = 1024;
  machine.memory_mib = 1024;
  machine.capacity_provider = "group";
  const auto of_group = cluster.add("a", machine);
  Request request = gpu_request(0);
  request.capacity_provider = "BERTH_QUEUE";
  expect_refused(cluster, request, "NO ACTIVE INSTANCES",
                 "Capacity provider BERTH_QUEUE has no ACTIVE container instance");
  const auto own = cluster.add({.id = "b"});
  EXPECT_EQ(cluster.run(request)->instance, own);
  request.capacity_provider = "group";
  EXPECT_EQ(cluster.run(request)->instance, of_group);
  request.capacity_provider = "other";
  expect_refused(cluster, request, "EMPTY CAPACITY PROVIDER", "Capacity provider other");
  request.capacity_provider.clear();
  EXPECT_TRUE(cluster.run(request).has_value());
  // The nearest is one of its own, however well another would do.
  request.capacity_provider = "group";
  request.required_attributes = {"lacking", "too"};
  request.resources.memory_mib = 1 << 20;
  ASSERT_FALSE(cluster.run(request).has_value());
  EXPECT_EQ(cluster.refusals()[0].instance, of_group);
  // What an instance becomes counts at once.
  model::ContainerInstance moved = cluster.instance(own);
  moved.capacity_provider = "other";
  cluster.apply(model::InstanceRegistered{moved});
  request = gpu_request(0);
  request.capacity_provider = "other";
  EXPECT_EQ(cluster.run(request)->instance, own);
}

TEST(Place, constraints_bind) {
  TestCluster cluster;
  cluster.add({.id = "a", .attributes = {{"rack", "1"}}});
  const auto b = cluster.add({.id = "b", .attributes = {{"rack", "2"}}});
  Request request = gpu_request(0);
  request.constraints = {member_of("attribute:rack == 2"), distinct_instance()};
  EXPECT_EQ(cluster.run(request)->instance, b);
  expect_refused(cluster, request, "DistinctInstance placement constraint unsatisfied",
                 "same group");
  request.group = "family:other";
  EXPECT_EQ(cluster.run(request)->instance, b);
  request.constraints = {member_of("attribute:rack == 3")};
  expect_refused(cluster, request, "MemberOf placement constraint unsatisfied",
                 "'attribute:rack == 3' does not hold");
  request.constraints = {member_of("not(task:group == family:other)")};
  EXPECT_NE(cluster.run(request)->instance, b);
}

TEST(Place, strategies_refine_each_other_in_order) {
  TestCluster cluster;
  const auto a1 = cluster.add({.id = "a1", .cpu_units = 8000, .attributes = {{"zone", "a"}}});
  const auto a2 = cluster.add({.id = "a2", .cpu_units = 4000, .attributes = {{"zone", "a"}}});
  const auto b1 = cluster.add({.id = "b1", .cpu_units = 9000, .attributes = {{"zone", "b"}}});
  Request request = gpu_request(0);
  request.strategies = {strategy(PlacementStrategyType::Spread, "attribute:zone"),
                        strategy(PlacementStrategyType::Binpack, "CPU")};
  EXPECT_EQ(cluster.run(request)->instance, a2);
  EXPECT_EQ(cluster.run(request)->instance, b1);
  EXPECT_EQ(cluster.run(request)->instance, a2);
  request.strategies = {strategy(PlacementStrategyType::Spread, "HOST")};
  EXPECT_EQ(cluster.run(request)->instance, a1);
}

TEST(Place, all_shares_of_a_task_go_on_one_gpu) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 2});
  Request request = share_request(6000);
  request.resources.gpus.push_back(request.resources.gpus[0]);
  request.resources.gpus[1].container = "side";
  const auto first = cluster.run(request);
  ASSERT_EQ(first->held.gpus.size(), 2U);
  EXPECT_EQ(first->held.gpus[0],
            (model::GpuAssignment{
                .container = "main", .gpu = "GPU-a-0", .shared = true, .memory_mib = 6000}));
  EXPECT_EQ(first->held.gpus[1].gpu, "GPU-a-0");
  EXPECT_EQ(held_gpus(cluster.run(request)->held), "GPU-1 GPU-1");
  EXPECT_EQ(held_gpus(cluster.run(share_request(4000))->held), "GPU-0");
  expect_refused(cluster, request, "RESOURCE:GPU",
                 "needs 12000 MiB of one GPU; at most 4384 MiB free on one.");
  expect_refused(cluster, gpu_request(1), "RESOURCE:GPU", "needs 1 GPU; 0 free of 2, 2 shared.");
}

TEST(Place, a_fraction_pins_its_part_of_the_memory) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 1});
  const auto task = cluster.run(fraction_request(500));
  EXPECT_EQ(task->held.gpus[0].memory_mib, 8192);
  EXPECT_EQ(task->held.gpus[0].milli, 500);
  expect_refused(cluster, fraction_request(501), "RESOURCE:GPU",
                 "needs 0.501 of one GPU; at most 0.5 free on one, 8192 MiB.");
  EXPECT_TRUE(cluster.run(fraction_request(500)).has_value());
}

TEST(Place, gpus_without_mps_are_not_shared) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 1, .mps_capable = false});
  expect_refused(cluster, share_request(10), "RESOURCE:GPU", "Volta");
}

TEST(Place, emulated_gpus_that_are_too_old_for_mps_are_not_shared_either) {
  for (const std::string_view type : {"p2.xlarge", "g3s.xlarge", "p3.2xlarge"}) {
    TestCluster cluster;
    model::ContainerInstance instance;
    instance.cpu_units = instance.memory_mib = 4096;
    for (model::GpuDevice& gpu : model::emulated_gpus(*model::find_instance_type(type), "a")) {
      instance.gpus.emplace_back().device = std::move(gpu);
    }
    cluster.add("a", instance);
    EXPECT_EQ(cluster.run(share_request(10)).has_value(), type == "p3.2xlarge") << type;
  }
}

TEST(Place, all_gpus_means_every_gpu_of_the_instance) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  Request request = gpu_request(1);
  request.resources.gpus[0] = all_gpus("main");
  const auto task = cluster.run(request);
  EXPECT_EQ(held_gpus(task->held), "GPU-0 GPU-1 GPU-2 GPU-3");
  cluster.stopped(task->arn);
  cluster.run(gpu_request(1));
  expect_refused(cluster, request, "RESOURCE:GPU", "needs all GPUs; 3 free of 4.");
  request.resources.gpus.push_back(gpu_request(1).resources.gpus[0]);
  expect_refused(cluster, request, "RESOURCE:GPU", "ALL GPUs and leaves none");
}

TEST(Place, mig_instances_are_devices_of_their_profile) {
  TestCluster cluster;
  model::ContainerInstance instance;
  instance.cpu_units = instance.memory_mib = 4096;
  instance.gpus.resize(3);
  instance.gpus[0].device = {.uuid = "GPU-a-0", .memory_mib = 40000, .mps_capable = true};
  instance.gpus[1].device = {
      .uuid = "MIG-a-1", .memory_mib = 9728, .mig_profile = "1g.10gb", .mig_parent = "GPU-a-0"};
  instance.gpus[2].device = {
      .uuid = "MIG-a-2", .memory_mib = 20000, .mig_profile = "2g.20gb", .mig_parent = "GPU-a-0"};
  cluster.add("a", instance);
  expect_refused(cluster, gpu_request(1), "RESOURCE:GPU", "no instance has a whole GPU");
  Request request = gpu_request(1);
  request.resources.gpus[0] = {
      .container = "main", .kind = model::GpuRequestKind::Profile, .mig_profile = "1g.10gb"};
  EXPECT_EQ(held_gpus(cluster.run(request)->held), "GPU-1");
  expect_refused(cluster, request, "RESOURCE:GPU", "0 of 1g.10gb free of 1");
  const auto by_memory = cluster.run(share_request(10000));
  EXPECT_EQ(held_gpus(by_memory->held), "GPU-2");
  EXPECT_FALSE(by_memory->held.gpus[0].shared);
  expect_refused(cluster, share_request(1), "RESOURCE:GPU", "at most 0 MiB free on one");
}

TEST(Place, filter_lists_the_instances_for_which_the_expression_holds) {
  TestCluster cluster;
  cluster.add({.id = "a", .attributes = {{"rack", "1"}}});
  const auto b = cluster.add({.id = "b", .attributes = {{"rack", "2"}}});
  const auto found = cluster.engine.filter(cluster.state, cluster_name, "attribute:rack > 1");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(*found, std::vector{b});
  const auto wrong = cluster.engine.filter(cluster.state, cluster_name, "rack > 1");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code, "InvalidParameterException");
}

TEST(Place, an_instance_that_was_forgotten_and_comes_back_is_judged_anew) {
  TestCluster cluster;
  const auto arn = cluster.add({.id = "a", .gpus = 1, .attributes = {{"zone", "a"}}});
  const model::ContainerInstance record = cluster.instance(arn);
  Request request = gpu_request(1);
  ASSERT_TRUE(cluster.engine.place(cluster.state, request, cluster.random).has_value());
  cluster.state.instances.erase(arn);
  cluster.engine.instance_changed(cluster.state, arn);
  request.constraints = {member_of("attribute:zone == a")};
  ASSERT_FALSE(cluster.engine.place(cluster.state, request, cluster.random).has_value());
  cluster.state.instances.emplace(arn, record);
  cluster.engine.instance_changed(cluster.state, arn);
  EXPECT_TRUE(cluster.engine.place(cluster.state, request, cluster.random).has_value());
}

TEST(Place, bestfit_measures_all_instances_by_the_largest_also_when_that_is_new) {
  TestCluster cluster;
  cluster.engine.set_policy(cluster.state, cluster_name, Policy::BestFit);
  const auto cores = cluster.add({.id = "a", .cpu_units = 8192});
  const auto card = cluster.add({.id = "b", .cpu_units = 1024, .gpus = 1});
  const Request request = gpu_request(0);
  EXPECT_EQ(cluster.engine.place(cluster.state, request, cluster.random)->instance, cores);
  // Beside 16 GPUs, one idle GPU is little.
  cluster.add({.id = "c", .cpu_units = 8192, .gpus = 16});
  EXPECT_EQ(cluster.engine.place(cluster.state, request, cluster.random)->instance, card);
}

}  // namespace
}  // namespace placement::test
