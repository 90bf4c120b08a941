#include "driver/driver.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "control/operations.h"
#include "store/faulty/faulty_store.h"
#include "store/memory/memory_store.h"

namespace driver {
namespace {

const base::Time start_time{std::chrono::seconds(1'750'000'000)};
constexpr base::Milliseconds no_patience{0};

control::Input create_cluster(control::RequestId id, const std::string& name) {
  api::ecs::CreateClusterRequest request;
  request.cluster_name = name;
  return control::ApiCall{
      id, control::find_action("ecs", "CreateCluster"), api::Any::make(std::move(request)), {}};
}

control::Input list_clusters(control::RequestId id) {
  return control::ApiCall{id,
                          control::find_action("ecs", "ListClusters"),
                          api::Any::make(api::ecs::ListClustersRequest{}),
                          {}};
}

template <class... Inputs>
std::vector<control::Input> inputs(Inputs... all) {
  std::vector<control::Input> made;
  (made.push_back(std::move(all)), ...);
  return made;
}

std::unique_ptr<Driver> started(store::Store& store) {
  auto made = Driver::start(store, {}, 1, "here", no_patience, start_time);
  CHECK(made.has_value());
  return std::move(*made);
}

size_t clusters_in(store::Store& store) {
  size_t count = 0;
  const auto records = store.load();
  CHECK(records.has_value());
  for (const store::Record& record : *records) count += record.key.starts_with("cluster/") ? 1 : 0;
  return count;
}

TEST(Driver, a_reply_is_released_only_with_its_record_written) {
  store::MemoryDisk disk;
  store::MemoryStore store(disk);
  const auto driver = started(store);
  const Released released = driver->turn(inputs(create_cluster(1, "a")), start_time);
  ASSERT_EQ(released.replies.size(), 1U);
  EXPECT_TRUE(released.replies[0].result.has_value());
  EXPECT_EQ(clusters_in(store), 1U);
}

TEST(Driver, a_new_one_on_the_same_disk_knows_what_was_acknowledged) {
  store::MemoryDisk disk;
  store::MemoryStore store(disk);
  started(store)->turn(inputs(create_cluster(1, "a"), create_cluster(2, "b")), start_time);
  store::MemoryStore again(disk);
  EXPECT_EQ(started(again)->core().state().clusters.size(), 2U);
}

TEST(Driver, a_failed_write_answers_every_call_of_the_batch_with_server_exception) {
  store::MemoryDisk disk;
  store::MemoryStore inner(disk);
  store::FaultyStore store(inner, 1, {});
  const auto driver = started(store);
  store.set_faults({.commit_not_written = 100});
  const Released released =
      driver->turn(inputs(create_cluster(1, "a"), list_clusters(2)), start_time);
  ASSERT_EQ(released.replies.size(), 2U);
  for (const control::Reply& reply : released.replies) {
    ASSERT_FALSE(reply.result.has_value());
    EXPECT_EQ(reply.result.error().code, "ServerException");
  }
  EXPECT_TRUE(released.reloaded);
  EXPECT_TRUE(driver->core().state().clusters.empty());
}

TEST(Driver, a_write_of_unknown_outcome_is_found_out_by_loading_again) {
  store::MemoryDisk disk;
  store::MemoryStore inner(disk);
  store::FaultyStore store(inner, 1, {});
  const auto driver = started(store);
  store.set_faults({.commit_written = 100});
  const Released released = driver->turn(inputs(create_cluster(1, "a")), start_time);
  EXPECT_FALSE(released.replies.at(0).result.has_value());
  EXPECT_EQ(driver->core().state().clusters.size(), 1U);
}

TEST(Driver, while_the_store_cannot_be_read_calls_are_refused_and_it_comes_back) {
  store::MemoryDisk disk;
  store::MemoryStore inner(disk);
  store::FaultyStore store(inner, 1, {});
  const auto driver = started(store);
  store.set_faults({.commit_not_written = 100, .load_fails = 100});
  EXPECT_TRUE(driver->turn(inputs(create_cluster(1, "a")), start_time).out_of_service.has_value());
  const Released refused = driver->turn(inputs(create_cluster(2, "b")), start_time);
  EXPECT_EQ(refused.replies.at(0).result.error().code, "ServerException");
  store.set_faults({});
  const Released served = driver->turn(inputs(create_cluster(3, "c")), start_time);
  EXPECT_TRUE(served.reloaded);
  EXPECT_TRUE(served.replies.at(0).result.has_value());
}

// A group that wants a machine, in the store.
void put_group(store::Store& store) {
  model::AutoScalingGroup group;
  group.name = "gpus";
  group.id = "id";
  group.max_size = group.desired_capacity = 1;
  group.launch_configuration = "boxes";
  model::ClusterState state;
  model::apply(state, model::AutoScalingGroupPut{group});
  model::apply(state, model::LaunchConfigurationPut{{.name = "boxes",
                                                     .id = "id",
                                                     .created_at = start_time,
                                                     .instance_type = "p3.2xlarge",
                                                     .user_data = {},
                                                     .echoed = {}}});
  store::Batch batch;
  for (const model::RecordKey& key : model::record_keys(state)) {
    batch.puts.push_back({model::print(key), *model::encode_record(state, key)});
  }
  const auto epoch = store.campaign("here", no_patience);
  CHECK(epoch && store.commit(*epoch, batch) == store::CommitOutcome::Committed);
}

TEST(Driver, an_order_for_a_machine_leaves_only_once_its_machine_is_written) {
  store::MemoryDisk disk;
  store::MemoryStore inner(disk);
  put_group(inner);
  store::FaultyStore store(inner, 1, {});
  const auto driver = started(store);
  store.set_faults({.commit_not_written = 100});
  EXPECT_TRUE(driver->turn({}, start_time).machine_orders.empty());
  store.set_faults({});
  const Released released = driver->turn({}, start_time);
  ASSERT_EQ(released.machine_orders.size(), 1U);
  const auto& order = std::get<control::LaunchMachine>(released.machine_orders[0]);
  EXPECT_EQ(driver->core().state().auto_scaling_groups.at("gpus").machines.at(0).token,
            order.token);
  // Another process that finds it written orders it again, with the same token.
  store::MemoryStore next(disk);
  const Released again = started(next)->turn({}, start_time);
  ASSERT_EQ(again.machine_orders.size(), 1U);
  EXPECT_EQ(std::get<control::LaunchMachine>(again.machine_orders[0]).token, order.token);
  EXPECT_TRUE(std::get<control::LaunchMachine>(again.machine_orders[0]).again);
}

// Every commit may fail, be lost or be late: what was acknowledged is there in the end.
TEST(Driver, nothing_acknowledged_is_lost_under_random_faults) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    store::MemoryDisk disk;
    store::MemoryStore inner(disk);
    store::FaultyStore store(inner, seed, {});
    const auto driver = started(store);
    store.set_faults({.commit_not_written = 15,
                      .commit_written = 15,
                      .commit_late = 10,
                      .lost_leadership = 5,
                      .campaign_fails = 10,
                      .load_fails = 10});
    std::set<std::string> acknowledged;
    for (control::RequestId id = 1; id <= 60; ++id) {
      const std::string name = "c" + std::to_string(id);
      const Released released = driver->turn(inputs(create_cluster(id, name)), start_time);
      ASSERT_EQ(released.replies.size(), 1U);
      if (released.replies[0].result.has_value()) acknowledged.insert(name);
    }
    store.set_faults({});
    driver->turn(inputs(list_clusters(100)), start_time);
    for (const std::string& name : acknowledged) {
      EXPECT_TRUE(driver->core().state().clusters.contains(model::ClusterName(name)))
          << "seed " << seed << " " << name;
    }
    EXPECT_EQ(driver->core().state().clusters.size(), clusters_in(inner));
  }
}

}  // namespace
}  // namespace driver
