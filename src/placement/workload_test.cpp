#include <gtest/gtest.h>

#include "base/format.h"
#include "placement/testing.h"

namespace placement {
namespace {

using test::gpu_request;
using test::member_of;
using test::TestCluster;

double fragments(TestCluster& cluster) {
  return cluster.engine.fragments(cluster.state, test::cluster_name);
}

// More expressions than the engine keeps, so that it forgets all filters and what hangs on them.
void ask_for_many_filters(TestCluster& cluster) {
  for (int i = 0; i < 2200; ++i) {
    const std::string expression = base::format("attribute:a{} exists", i);
    ASSERT_TRUE(cluster.engine.filter(cluster.state, test::cluster_name, expression).has_value());
  }
}

TEST(Workload, once_set_it_outlives_the_forgetting_of_filters) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  cluster.engine.set_workload(test::cluster_name, {gpu_request(1)});
  ASSERT_TRUE(cluster.run(gpu_request(1)).has_value());
  // The rest of three GPUs is of use to tasks of one; a cluster that knows nothing expects tasks of
  // the whole instance, to which it would be of none.
  EXPECT_EQ(fragments(cluster), 0);
  ask_for_many_filters(cluster);
  EXPECT_EQ(fragments(cluster), 0);
}

TEST(Workload, its_constraints_still_mean_the_same_after_the_forgetting) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4, .attributes = {{"rack", "1"}}});
  cluster.add({.id = "b", .gpus = 2, .attributes = {{"rack", "2"}}});
  Request constrained = gpu_request(1);
  constrained.constraints.push_back(member_of("attribute:rack == 2"));
  cluster.engine.set_workload(test::cluster_name, {constrained});
  EXPECT_EQ(fragments(cluster), 4000);  // Those of a are of no use.
  ask_for_many_filters(cluster);
  EXPECT_EQ(fragments(cluster), 4000);
}

TEST(Workload, of_more_expressions_than_are_kept_leaves_room_for_tasks) {
  TestCluster cluster;
  cluster.add({.id = "a", .gpus = 4});
  std::vector<Request> many;
  for (int i = 0; i < 3000; ++i) {
    many.push_back(gpu_request(1));
    many.back().constraints.push_back(member_of(base::format("attribute:a{} !exists", i)));
  }
  cluster.engine.set_workload(test::cluster_name, many);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(cluster.run(many[2990]).has_value());
  EXPECT_FALSE(cluster.run(many[2990]).has_value());
}

}  // namespace
}  // namespace placement
