// Capacity providers through the API.
#include "control/capacity/providers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "control/capacity/testing_capacity.h"

namespace control {
namespace {

using api::ecs::CapacityProviderStatus;
using api::ecs::ManagedScalingStatus;
using testing::Capacity;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::strategy_item;

using Describe = api::ecs::DescribeCapacityProvidersRequest;
using Described = api::ecs::DescribeCapacityProvidersResponse;

std::vector<std::string> names_in(const Described& response) {
  std::vector<std::string> names;
  for (const auto& one : response.capacity_providers) names.push_back(*one.name);
  return names;
}

TEST_F(Capacity, a_provider_is_made_with_the_documented_defaults) {
  const std::string group = add_group("gpus", "p3.8xlarge");
  const auto made = create_provider("gpu-machines", group);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  const auto& provider = *made->capacity_provider;
  EXPECT_EQ(provider.capacity_provider_arn,
            "arn:aws:ecs:us-east-1:123456789012:capacity-provider/gpu-machines");
  EXPECT_EQ(provider.status, CapacityProviderStatus::Active);
  EXPECT_EQ(provider.type, api::ecs::CapacityProviderType::Ec2Autoscaling);
  EXPECT_FALSE(provider.update_status.has_value());
  const auto& of_group = *provider.auto_scaling_group_provider;
  EXPECT_EQ(of_group.auto_scaling_group_arn, group);
  EXPECT_EQ(of_group.managed_termination_protection,
            api::ecs::ManagedTerminationProtection::Disabled);
  EXPECT_EQ(of_group.managed_draining, api::ecs::ManagedDraining::Enabled);
  EXPECT_EQ(of_group.managed_scaling->status, ManagedScalingStatus::Disabled);
  EXPECT_EQ(of_group.managed_scaling->target_capacity, 100);
  EXPECT_EQ(of_group.managed_scaling->minimum_scaling_step_size, 1);
  EXPECT_EQ(of_group.managed_scaling->maximum_scaling_step_size, 10'000);
  EXPECT_EQ(of_group.managed_scaling->instance_warmup_period, 300);
}

TEST_F(Capacity, what_no_provider_can_be_is_refused_and_changes_nothing) {
  const std::string group = add_group("gpus", "p3.8xlarge");
  ASSERT_TRUE(create_provider("taken", add_group("other", "p3.8xlarge")).has_value());
  struct Row {
    std::string what;
    std::string code;
    std::string text;
    std::function<void(api::ecs::CreateCapacityProviderRequest&)> spoil;
  };
  using Request = api::ecs::CreateCapacityProviderRequest;
  const auto named = [](std::string name) {
    return [name](Request& request) { request.name = name; };
  };
  const std::vector<Row> rows{
      {"no name", "InvalidParameterException", "name is \"\"", named("")},
      {"bad name", "InvalidParameterException", "a b", named("a b")},
      {"aws", "InvalidParameterException", "\"aws\"", named("awsome")},
      {"Fargate", "InvalidParameterException", "\"fargate\"", named("FARGATE_MINE")},
      {"BERTH_", "InvalidParameterException", "BERTH_", named("BERTH_MINE")},
      {"taken", "ClientException", "already exists", named("taken")},
      {"group taken", "ClientException", "another capacity provider, taken",
       [](Request& r) { r.auto_scaling_group_provider->auto_scaling_group_arn = "other"; }},
      {"no group", "ClientException", "no Auto Scaling group none",
       [](Request& r) { r.auto_scaling_group_provider->auto_scaling_group_arn = "none"; }},
      {"nothing", "InvalidParameterException", "autoScalingGroupProvider",
       [](Request& r) { r.auto_scaling_group_provider.reset(); }},
      {"managed instances", "ClientException", "managedInstancesProvider",
       [](Request& r) { r.managed_instances_provider.emplace(); }},
      {"cluster", "InvalidParameterException", "PutClusterCapacityProviders",
       [](Request& r) { r.cluster = "default"; }},
      {"target", "InvalidParameterException", "targetCapacity is 101",
       [](Request& r) {
         r.auto_scaling_group_provider->managed_scaling.emplace();
         r.auto_scaling_group_provider->managed_scaling->target_capacity = 101;
       }},
      {"steps", "InvalidParameterException", "minimumScalingStepSize is 5",
       [](Request& r) {
         auto& scaling = r.auto_scaling_group_provider->managed_scaling.emplace();
         scaling.minimum_scaling_step_size = 5;
         scaling.maximum_scaling_step_size = 4;
       }},
      {"warm-up", "InvalidParameterException", "instanceWarmupPeriod is -1",
       [](Request& r) {
         r.auto_scaling_group_provider->managed_scaling.emplace();
         r.auto_scaling_group_provider->managed_scaling->instance_warmup_period = -1;
       }},
      {"protection without scaling", "InvalidParameterException", "needs managed scaling",
       [](Request& r) {
         r.auto_scaling_group_provider->managed_termination_protection =
             api::ecs::ManagedTerminationProtection::Enabled;
       }},
      {"protection of an unprotected group", "ClientException", "NewInstancesProtectedFromScaleIn",
       [](Request& r) {
         r.auto_scaling_group_provider->managed_scaling.emplace();
         r.auto_scaling_group_provider->managed_termination_protection =
             api::ecs::ManagedTerminationProtection::Enabled;
       }},
  };
  for (const Row& row : rows) {
    Request request;
    request.name = "mine";
    request.auto_scaling_group_provider.emplace();
    request.auto_scaling_group_provider->auto_scaling_group_arn = group;
    row.spoil(request);
    const auto answer =
        plane.call<api::ecs::CreateCapacityProviderResponse>("CreateCapacityProvider", request);
    ASSERT_FALSE(answer.has_value()) << row.what;
    EXPECT_EQ(answer.error().code, row.code) << row.what << ": " << answer.error().message;
    EXPECT_THAT(answer.error().message, HasSubstr(row.text)) << row.what;
  }
  EXPECT_EQ(plane.core.state().capacity_providers.size(), 1u);
}

TEST_F(Capacity, an_update_leaves_what_it_does_not_name) {
  ASSERT_TRUE(create_provider("gpus", add_group("gpus", "p3.8xlarge")).has_value());
  api::ecs::UpdateCapacityProviderRequest request;
  request.name = "gpus";
  request.auto_scaling_group_provider.emplace();
  request.auto_scaling_group_provider->managed_scaling.emplace();
  request.auto_scaling_group_provider->managed_scaling->status = ManagedScalingStatus::Enabled;
  request.auto_scaling_group_provider->managed_scaling->instance_warmup_period = 0;
  const auto updated =
      plane.call<api::ecs::UpdateCapacityProviderResponse>("UpdateCapacityProvider", request);
  ASSERT_TRUE(updated.has_value()) << updated.error().message;
  EXPECT_EQ(updated->capacity_provider->update_status,
            api::ecs::CapacityProviderUpdateStatus::UpdateComplete);
  const auto& scaling = *updated->capacity_provider->auto_scaling_group_provider->managed_scaling;
  EXPECT_EQ(scaling.status, ManagedScalingStatus::Enabled);
  EXPECT_EQ(scaling.instance_warmup_period, 0);
  EXPECT_EQ(scaling.target_capacity, 100);
  request.name = "FARGATE";
  const auto built_in =
      plane.call<api::ecs::UpdateCapacityProviderResponse>("UpdateCapacityProvider", request);
  ASSERT_FALSE(built_in.has_value());
  EXPECT_THAT(built_in.error().message, HasSubstr("built in"));
}

TEST_F(Capacity, all_are_described_the_built_in_ones_too) {
  for (const std::string name : {"a", "b"}) {
    ASSERT_TRUE(create_provider(name, add_group(name, "p3.8xlarge")).has_value());
  }
  const auto all = plane.call<Described>("DescribeCapacityProviders", Describe{});
  ASSERT_TRUE(all.has_value());
  EXPECT_THAT(names_in(*all), ElementsAre("BERTH_QUEUE", "FARGATE", "FARGATE_SPOT", "a", "b"));
  for (const auto& one : all->capacity_providers) {
    EXPECT_EQ(one.status, CapacityProviderStatus::Active) << *one.name;
  }
  Describe named;
  named.capacity_providers = {"b", "arn:aws:ecs:us-east-1:123456789012:capacity-provider/a",
                              "BERTH_QUEUE", "none"};
  const auto some = plane.call<Described>("DescribeCapacityProviders", named);
  ASSERT_TRUE(some.has_value());
  EXPECT_THAT(names_in(*some), ElementsAre("b", "a", "BERTH_QUEUE"));
  ASSERT_EQ(some->failures.size(), 1u);
  EXPECT_EQ(some->failures[0].reason, "MISSING");

  Describe page;
  page.max_results = 3;
  const auto first = plane.call<Described>("DescribeCapacityProviders", page);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->capacity_providers.size(), 3u);
  page.next_token = first->next_token;
  const auto second = plane.call<Described>("DescribeCapacityProviders", page);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(names_in(*second), ElementsAre("a", "b"));
  EXPECT_FALSE(second->next_token.has_value());

  ASSERT_TRUE(put({"b"}).has_value());
  Describe of_cluster;
  of_cluster.cluster = "default";
  EXPECT_THAT(names_in(*plane.call<Described>("DescribeCapacityProviders", of_cluster)),
              ElementsAre("BERTH_QUEUE", "b"));
}

TEST_F(Capacity, a_provider_is_tagged) {
  const auto made = create_provider("gpus", add_group("gpus", "p3.8xlarge"));
  ASSERT_TRUE(made.has_value());
  api::ecs::TagResourceRequest tag;
  tag.resource_arn = made->capacity_provider->capacity_provider_arn;
  tag.tags.push_back({.key = "team", .value = "vision"});
  ASSERT_TRUE((plane.call<api::ecs::TagResourceResponse>("TagResource", tag).has_value()));
  api::ecs::ListTagsForResourceRequest list;
  list.resource_arn = tag.resource_arn;
  EXPECT_EQ((plane.call<api::ecs::ListTagsForResourceResponse>("ListTagsForResource", list)->tags),
            tag.tags);
  Describe describe;
  describe.capacity_providers = {"gpus"};
  EXPECT_TRUE(plane.call<Described>("DescribeCapacityProviders", describe)
                  ->capacity_providers[0]
                  .tags.empty());
  describe.include = {api::ecs::CapacityProviderField::Tags};
  EXPECT_EQ(
      plane.call<Described>("DescribeCapacityProviders", describe)->capacity_providers[0].tags,
      tag.tags);
}

TEST_F(Capacity, a_provider_of_a_cluster_cannot_go_and_one_in_use_cannot_leave_the_cluster) {
  have_provider("gpus");
  api::ecs::DeleteCapacityProviderRequest remove;
  remove.capacity_provider = "gpus";
  const auto refused =
      plane.call<api::ecs::DeleteCapacityProviderResponse>("DeleteCapacityProvider", remove);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "ClientException");
  EXPECT_THAT(refused.error().message, HasSubstr("associated with cluster: default"));

  const auto waits = run_tasks("one", 1, {strategy_item("gpus")});
  ASSERT_TRUE(waits.has_value()) << waits.error().message;
  const auto in_use = put({});
  ASSERT_FALSE(in_use.has_value());
  EXPECT_EQ(in_use.error().code, "ResourceInUseException");
  api::ecs::StopTaskRequest stop;
  stop.task = waits->tasks[0].task_arn;
  ASSERT_TRUE((plane.call<api::ecs::StopTaskResponse>("StopTask", stop).has_value()));
  ASSERT_TRUE(put({}).has_value());

  const auto gone =
      plane.call<api::ecs::DeleteCapacityProviderResponse>("DeleteCapacityProvider", remove);
  ASSERT_TRUE(gone.has_value()) << gone.error().message;
  EXPECT_EQ(gone->capacity_provider->status, CapacityProviderStatus::Inactive);
  EXPECT_EQ(gone->capacity_provider->update_status,
            api::ecs::CapacityProviderUpdateStatus::DeleteComplete);
  Describe describe;
  describe.capacity_providers = {"gpus"};
  EXPECT_EQ(plane.call<Described>("DescribeCapacityProviders", describe)->failures.size(), 1u);
}

TEST_F(Capacity, a_cluster_shows_its_providers_and_its_default_strategy) {
  have_provider("a");
  have_provider("b");
  const auto answer = put({"a", "b"}, {strategy_item("a", 1, 2), strategy_item("b", std::nullopt)});
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  api::ecs::DescribeClustersRequest describe;
  describe.include = {api::ecs::ClusterField::Attachments};
  const auto clusters =
      plane.call<api::ecs::DescribeClustersResponse>("DescribeClusters", describe);
  const api::ecs::Cluster& cluster = clusters->clusters[0];
  EXPECT_THAT(cluster.capacity_providers, ElementsAre("a", "b"));
  ASSERT_EQ(cluster.default_capacity_provider_strategy.size(), 2u);
  EXPECT_EQ(cluster.default_capacity_provider_strategy[0].base, 2);
  EXPECT_EQ(cluster.default_capacity_provider_strategy[1].weight, 0);
  EXPECT_EQ(cluster.default_capacity_provider_strategy[1].base, 0);
  EXPECT_EQ(cluster.attachments_status, "UPDATE_COMPLETE");
}

TEST_F(Capacity, what_no_cluster_can_have_is_refused) {
  have_provider("a");
  struct Row {
    std::string what;
    std::vector<std::string> providers;
    api::List<api::ecs::CapacityProviderStrategyItem> strategy;
    std::string text;
  };
  const std::vector<Row> rows{
      {"unknown", {"none"}, {}, "not found: none"},
      {"fargate", {"FARGATE"}, {}, "FARGATE runs tasks on machines of AWS"},
      {"not associated", {}, {strategy_item("a")}, "not associated"},
      {"fargate in strategy", {"a"}, {strategy_item("FARGATE_SPOT")}, "FARGATE_SPOT runs"},
      {"twice", {"a"}, {strategy_item("a"), strategy_item("a")}, "more than once"},
      {"two bases",
       {"a"},
       {strategy_item("a", 1, 1), strategy_item("BERTH_QUEUE", 1, 1)},
       "Only one"},
      {"no weight",
       {"a"},
       {strategy_item("a", 0), strategy_item("BERTH_QUEUE", 0)},
       "a weight above 0"},
      {"weight", {"a"}, {strategy_item("a", 1001)}, "weight of a is 1001"},
      {"base", {"a"}, {strategy_item("a", 1, -1)}, "base of a is -1"},
      {"nameless", {"a"}, {strategy_item("")}, "must name a capacityProvider"},
  };
  for (const Row& row : rows) {
    const auto answer = put(row.providers, row.strategy);
    ASSERT_FALSE(answer.has_value()) << row.what;
    EXPECT_THAT(answer.error().message, HasSubstr(row.text)) << row.what;
  }
  EXPECT_THAT(plane.core.state().clusters.at(model::ClusterName("default")).capacity_providers,
              ElementsAre("a"));
}

TEST_F(Capacity, machines_of_a_group_are_its_providers_whichever_came_first) {
  const std::string group = add_group("gpus", "p3.8xlarge", {"i-early", "i-late"});
  const auto early = plane.register_instance("p3.8xlarge", "early");
  const auto own = plane.register_instance("p3.8xlarge", "own");
  const auto provider_of = [&](const model::InstanceArn& arn) {
    return plane.core.state().instances.at(arn).capacity_provider;
  };
  EXPECT_EQ(provider_of(early), "");
  ASSERT_TRUE(create_provider("gpus", group).has_value());
  const auto late = plane.register_instance("p3.8xlarge", "late");
  EXPECT_EQ(provider_of(early), "gpus");
  EXPECT_EQ(provider_of(late), "gpus");
  EXPECT_EQ(provider_of(own), "");
  api::ecs::DescribeContainerInstancesRequest describe;
  describe.container_instances = {early.str()};
  EXPECT_EQ((plane.call<api::ecs::DescribeContainerInstancesResponse>("DescribeContainerInstances",
                                                                      describe))
                ->container_instances[0]
                .capacity_provider_name,
            "gpus");
  api::ecs::DeleteCapacityProviderRequest remove;
  remove.capacity_provider = "gpus";
  ASSERT_TRUE(
      (plane.call<api::ecs::DeleteCapacityProviderResponse>("DeleteCapacityProvider", remove)));
  EXPECT_EQ(provider_of(early), "");
}

}  // namespace
}  // namespace control
