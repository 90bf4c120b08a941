#include "placement/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/format.h"
#include "model/catalogue.h"
#include "placement/cores.h"
#include "placement/testing.h"

namespace placement::test {
namespace {

std::vector<model::GpuSlot> gpus_of(size_t count) {
  std::vector<model::GpuSlot> gpus(count);
  for (size_t i = 0; i < count; ++i) gpus[i].device.uuid = base::format("GPU-{}", i);
  return gpus;
}

void link(std::vector<model::GpuSlot>& gpus, size_t left, size_t right, uint32_t lanes) {
  const auto add = [&](size_t from, size_t to) {
    auto& links = gpus[from].device.nvlinks;
    links.push_back({gpus[to].device.uuid, lanes});
    std::ranges::sort(links, {}, &model::NvLink::peer);
  };
  add(left, right);
  add(right, left);
}

using Indices = std::vector<size_t>;

Indices pick(const std::vector<model::GpuSlot>& gpus, const Indices& free, size_t count) {
  return best_connected(Connectivity(gpus), free, count);
}

TEST(Topology, the_lowest_indices_are_taken_where_nothing_is_known) {
  EXPECT_EQ(pick(gpus_of(4), {1, 2, 3}, 2), (Indices{1, 2}));
  EXPECT_EQ(pick(gpus_of(4), {1, 2, 3}, 0), Indices{});
}

TEST(Topology, gpus_joined_by_nvlink_are_taken_together) {
  auto gpus = gpus_of(4);
  link(gpus, 0, 3, 2);
  link(gpus, 1, 2, 1);
  EXPECT_EQ(pick(gpus, {0, 1, 2, 3}, 2), (Indices{0, 3}));
  EXPECT_EQ(pick(gpus, {0, 1, 2}, 2), (Indices{1, 2}));
}

TEST(Topology, lanes_weigh_more_than_a_switch_and_a_switch_more_than_a_numa_node) {
  auto gpus = gpus_of(6);
  link(gpus, 0, 5, 1);
  for (const size_t i : {1U, 4U}) gpus[i].device.pcie_switch = "sw";
  for (const size_t i : {2U, 3U}) gpus[i].device.numa_node = 0;
  EXPECT_EQ(pick(gpus, {0, 1, 2, 3, 4, 5}, 2), (Indices{0, 5}));
  EXPECT_EQ(pick(gpus, {0, 1, 2, 3, 4}, 2), (Indices{1, 4}));
  EXPECT_EQ(pick(gpus, {0, 1, 2, 3}, 2), (Indices{2, 3}));
}

TEST(Topology, a_single_gpu_is_taken_where_it_breaks_least) {
  auto gpus = gpus_of(5);
  link(gpus, 0, 1, 2);
  link(gpus, 2, 3, 1);
  EXPECT_EQ(pick(gpus, {0, 1, 2, 3, 4}, 1), Indices{4});
  EXPECT_EQ(pick(gpus, {0, 1, 2, 3}, 1), Indices{2});
  EXPECT_EQ(pick(gpus, {0, 1, 3}, 1), Indices{3});
}

TEST(Topology, a_quad_of_the_hybrid_cube_mesh_is_given_to_four_gpus) {
  std::vector<model::GpuSlot> gpus;
  for (auto& device : model::emulated_gpus(*model::find_instance_type("p3.16xlarge"), "seed")) {
    gpus.emplace_back().device = device;
  }
  ASSERT_EQ(gpus.size(), 8U);
  const Connectivity connectivity(gpus);
  Indices all(8);
  std::iota(all.begin(), all.end(), 0);
  const auto inner = [&](const Indices& set) {
    int64_t sum = 0;
    for (const size_t i : set) {
      for (const size_t j : set) sum += connectivity.between(i, j);
    }
    return sum;
  };
  const Indices quad = best_connected(connectivity, all, 4);
  int64_t best = 0;
  for (uint32_t bits = 0; bits < 256; ++bits) {
    if (__builtin_popcount(bits) != 4) continue;
    Indices set;
    for (size_t i = 0; i < 8; ++i) {
      if ((bits >> i & 1) != 0) set.push_back(i);
    }
    best = std::max(best, inner(set));
  }
  EXPECT_EQ(inner(quad), best);
  Indices rest;
  for (const size_t i : all) {
    if (std::ranges::find(quad, i) == quad.end()) rest.push_back(i);
  }
  EXPECT_EQ(inner(rest), best) << "the other quad must stay whole";
}

TEST(Topology, a_greedy_choice_is_made_where_there_are_too_many) {
  auto gpus = gpus_of(40);
  for (size_t i = 20; i < 30; ++i) {
    for (size_t j = i + 1; j < 30; ++j) link(gpus, i, j, 1);
  }
  Indices all(40);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(pick(gpus, all, 10), (Indices{20, 21, 22, 23, 24, 25, 26, 27, 28, 29}));
}

TEST(Cores, lists_are_read_and_written) {
  EXPECT_EQ(parse_cpu_list("0-3,8"), (CoreSet{0, 1, 2, 3, 8}));
  EXPECT_EQ(format_cpu_list({0, 1, 2, 3, 8, 10, 11}), "0-3,8,10-11");
  for (const char* wrong : {"", "a", "3-1", "1,", "1-", "1;2", "0-99999999"}) {
    EXPECT_TRUE(parse_cpu_list(wrong).empty()) << wrong;
  }
}

TEST(Cores, tasks_get_cores_near_their_gpus_that_no_other_gpu_task_has) {
  TestCluster cluster;
  model::ContainerInstance instance;
  instance.cpu_units = 16384;
  instance.memory_mib = 65536;
  instance.gpus.resize(4);
  for (size_t i = 0; i < 4; ++i) {
    auto& device = instance.gpus[i].device;
    device.uuid = base::format("GPU-a-{}", i);
    device.numa_node = i < 2 ? 0 : 1;
    device.cpu_list = i < 2 ? "0-7" : "8-15";
  }
  cluster.add("a", instance);
  EXPECT_EQ(cluster.run(gpu_request(1, 256))->held.cpuset, "0");
  EXPECT_EQ(cluster.run(gpu_request(1, 2049))->held.cpuset, "1-3");
  EXPECT_EQ(cluster.run(gpu_request(0, 1024))->held.cpuset, "") << "no GPU";
  EXPECT_EQ(cluster.run(gpu_request(1, 0))->held.cpuset, "") << "no CPU asked";
  EXPECT_EQ(cluster.run(gpu_request(1, 9216))->held.cpuset, "") << "not enough near cores";
}

TEST(Cores, gpus_of_two_nodes_get_cores_of_both) {
  TestCluster cluster;
  model::ContainerInstance instance;
  instance.cpu_units = 16384;
  instance.memory_mib = 65536;
  instance.gpus.resize(2);
  instance.gpus[0].device = {.uuid = "GPU-a-0", .cpu_list = "0-7"};
  instance.gpus[1].device = {.uuid = "GPU-a-1", .cpu_list = "8-15"};
  cluster.add("a", instance);
  EXPECT_EQ(cluster.run(gpu_request(2, 4096))->held.cpuset, "0-1,8-9");
}

TEST(Cores, emulated_instances_are_not_pinned) {
  TestCluster cluster;
  model::ContainerInstance instance;
  instance.cpu_units = instance.memory_mib = 16384;
  instance.emulated_instance_type = "p3.2xlarge";
  instance.gpus.resize(1);
  instance.gpus[0].device = {.uuid = "GPU-a-0", .cpu_list = "0-7"};
  cluster.add("a", instance);
  EXPECT_EQ(cluster.run(gpu_request(1, 4096))->held.cpuset, "");
}

}  // namespace
}  // namespace placement::test
