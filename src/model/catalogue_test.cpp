#include "model/catalogue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <set>

namespace model {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Figures {
  const char* name;
  int32_t vcpus;
  int64_t memory_mib;
  int32_t gpus;
  const char* gpu_model;
};

// The table of "Amazon ECS task definitions for GPU workloads".
constexpr Figures ecs_guide[] = {
    {"p2.xlarge", 4, 62464, 1, "Tesla K80"},
    {"p2.8xlarge", 32, 499712, 8, "Tesla K80"},
    {"p2.16xlarge", 64, 749568, 16, "Tesla K80"},
    {"p3.2xlarge", 8, 62464, 1, "Tesla V100-SXM2-16GB"},
    {"p3.8xlarge", 32, 249856, 4, "Tesla V100-SXM2-16GB"},
    {"p3.16xlarge", 64, 499712, 8, "Tesla V100-SXM2-16GB"},
    {"p3dn.24xlarge", 96, 786432, 8, "Tesla V100-SXM2-32GB"},
    {"g3s.xlarge", 4, 31232, 1, "Tesla M60"},
    {"g3.4xlarge", 16, 124928, 1, "Tesla M60"},
    {"g3.8xlarge", 32, 249856, 2, "Tesla M60"},
    {"g3.16xlarge", 64, 499712, 4, "Tesla M60"},
    {"g4dn.xlarge", 4, 16384, 1, "Tesla T4"},
    {"g4dn.2xlarge", 8, 32768, 1, "Tesla T4"},
    {"g4dn.4xlarge", 16, 65536, 1, "Tesla T4"},
    {"g4dn.8xlarge", 32, 131072, 1, "Tesla T4"},
    {"g4dn.12xlarge", 48, 196608, 4, "Tesla T4"},
    {"g4dn.16xlarge", 64, 262144, 1, "Tesla T4"},
};

TEST(catalogue, has_the_17_types_of_the_ecs_gpu_guide) {
  for (const Figures& row : ecs_guide) {
    const InstanceType* type = find_instance_type(row.name);
    ASSERT_NE(type, nullptr) << row.name;
    EXPECT_EQ(type->vcpus, row.vcpus) << row.name;
    EXPECT_EQ(type->memory_mib, row.memory_mib) << row.name;
    EXPECT_EQ(type->gpus.count, row.gpus) << row.name;
    EXPECT_EQ(type->gpus.model, row.gpu_model) << row.name;
  }
}

TEST(catalogue, has_the_types_of_today_and_plain_cpu_types) {
  for (const char* name : {"g5.xlarge", "g5.48xlarge", "g6.xlarge", "g6.48xlarge", "p4d.24xlarge",
                           "p5.48xlarge", "t3.micro", "m5.large", "c5.2xlarge", "r5.24xlarge"}) {
    EXPECT_NE(find_instance_type(name), nullptr) << name;
  }
  EXPECT_EQ(find_instance_type("c5.2xlarge")->gpus.count, 0);
}

TEST(catalogue, is_complete_and_consistent_for_every_type) {
  std::set<std::string_view> names;
  for (const InstanceType& type : instance_types()) {
    EXPECT_TRUE(names.insert(type.name).second) << type.name;
    EXPECT_GT(type.vcpus, 0) << type.name;
    EXPECT_GT(type.memory_mib, 0) << type.name;
    EXPECT_EQ(type.vcpus % (2 * type.numa_nodes), 0) << type.name;
    const GpuLayout& gpus = type.gpus;
    if (gpus.count == 0) continue;
    EXPECT_FALSE(gpus.model.empty()) << type.name;
    EXPECT_FALSE(gpus.architecture.empty()) << type.name;
    EXPECT_GT(gpus.memory_mib, 0) << type.name;
    EXPECT_FALSE(gpus.driver_version.empty()) << type.name;
    EXPECT_FALSE(gpus.cuda_version.empty()) << type.name;
    EXPECT_LE(gpus.count, 16) << type.name;
    if (gpus.nvlink == NvLinkTopology::HybridCubeMesh) EXPECT_LE(gpus.count, 8) << type.name;
    if (gpus.nvlink == NvLinkTopology::Switched) EXPECT_GT(gpus.links_per_gpu, 0) << type.name;
  }
}

TEST(catalogue, suggests_the_nearest_names_for_an_unknown_type) {
  EXPECT_EQ(find_instance_type("p3.8xlarg"), nullptr);
  EXPECT_EQ(similar_instance_types("p3.8xlarg").front(), "p3.8xlarge");
  EXPECT_EQ(similar_instance_types("P3.8XLARGE").front(), "p3.8xlarge");
  EXPECT_EQ(similar_instance_types("g4nd.xlarge").front(), "g4dn.xlarge");
  EXPECT_THAT(similar_instance_types("g4dn"),
              ElementsAre("g4dn.metal", "g4dn.xlarge", "g4dn.2xlarge"));
  EXPECT_THAT(similar_instance_types("banana.large"), IsEmpty());
  EXPECT_THAT(similar_instance_types(""), IsEmpty());
  EXPECT_THAT(similar_instance_types(std::string(100000, 'p')), IsEmpty());
}

TEST(catalogue, names_the_nearest_types_in_the_error) {
  auto unknown = require_instance_type("p3d.24xlarge");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "InvalidParameterException");
  EXPECT_THAT(unknown.error().message, HasSubstr("'p3d.24xlarge'"));
  EXPECT_THAT(unknown.error().message, HasSubstr("p3dn.24xlarge"));
  auto known = require_instance_type("p3.2xlarge");
  ASSERT_TRUE(known);
  EXPECT_EQ((*known)->vcpus, 8);
}

TEST(emulated_gpus, carry_the_figures_of_their_type_and_say_that_they_are_emulated) {
  std::vector<GpuDevice> gpus = emulated_gpus(*find_instance_type("p3.16xlarge"), "i-1");
  ASSERT_EQ(gpus.size(), 8U);
  EXPECT_TRUE(gpus[0].emulated);
  EXPECT_TRUE(gpus[0].healthy);
  EXPECT_EQ(gpus[0].memory_mib, 16384);
  EXPECT_EQ(gpus[0].pci_bus_id, "00000000:00:17.0");
  EXPECT_EQ(gpus[7].pci_bus_id, "00000000:00:1E.0");
  EXPECT_EQ(gpus[3].numa_node, 0);
  EXPECT_EQ(gpus[3].cpu_list, "0-15,32-47");
  EXPECT_EQ(gpus[4].numa_node, 1);
  EXPECT_EQ(gpus[4].cpu_list, "16-31,48-63");
  EXPECT_EQ(gpus[0].pcie_switch, gpus[1].pcie_switch);
  EXPECT_NE(gpus[1].pcie_switch, gpus[2].pcie_switch);
  EXPECT_TRUE(emulated_gpus(*find_instance_type("c5.large"), "i-1").empty());
}

uint32_t lanes(const GpuDevice& from, const GpuDevice& to) {
  for (const NvLink& link : from.nvlinks) {
    if (link.peer == to.uuid) return link.lanes;
  }
  return 0;
}

TEST(emulated_gpus, of_p3_are_joined_as_in_a_dgx_1) {
  std::vector<GpuDevice> gpus = emulated_gpus(*find_instance_type("p3.16xlarge"), "i-1");
  for (const GpuDevice& gpu : gpus) {
    uint32_t total = 0;
    for (const NvLink& link : gpu.nvlinks) total += link.lanes;
    EXPECT_EQ(total, 6U);
    EXPECT_EQ(gpu.nvlinks.size(), 4U);
  }
  EXPECT_EQ(lanes(gpus[0], gpus[3]), 2U);
  EXPECT_EQ(lanes(gpus[0], gpus[1]), 1U);
  EXPECT_EQ(lanes(gpus[0], gpus[4]), 2U);
  EXPECT_EQ(lanes(gpus[0], gpus[7]), 0U);
  gpus = emulated_gpus(*find_instance_type("p3.8xlarge"), "i-1");
  EXPECT_EQ(gpus[2].nvlinks.size(), 3U);
  EXPECT_THAT(emulated_gpus(*find_instance_type("p3.2xlarge"), "i-1")[0].nvlinks, IsEmpty());
}

TEST(emulated_gpus, behind_nvswitch_reach_each_other_with_all_links_and_others_with_none) {
  std::vector<GpuDevice> p5 = emulated_gpus(*find_instance_type("p5.48xlarge"), "i-1");
  EXPECT_EQ(lanes(p5[0], p5[7]), 18U);
  EXPECT_EQ(lanes(emulated_gpus(*find_instance_type("p4d.24xlarge"), "i")[1],
                  emulated_gpus(*find_instance_type("p4d.24xlarge"), "i")[6]),
            12U);
  EXPECT_THAT(emulated_gpus(*find_instance_type("g4dn.12xlarge"), "i")[0].nvlinks, IsEmpty());
}

RC_GTEST_PROP(emulated_gpus, have_stable_uuids_that_no_other_instance_has,
              (std::set<std::string> identities)) {
  std::set<std::string> seen;
  const InstanceType& type = *find_instance_type("p2.16xlarge");
  for (const std::string& identity : identities) {
    std::vector<GpuDevice> gpus = emulated_gpus(type, identity);
    RC_ASSERT(gpus == emulated_gpus(type, identity));
    for (const GpuDevice& gpu : gpus) {
      RC_ASSERT(gpu.uuid.size() == 40U);
      RC_ASSERT(gpu.uuid.starts_with("GPU-"));
      RC_ASSERT(seen.insert(gpu.uuid).second);
    }
  }
}

TEST(emulated_gpus, have_nvlinks_that_are_symmetric_sorted_and_never_to_themselves) {
  for (const InstanceType& type : instance_types()) {
    std::vector<GpuDevice> gpus = emulated_gpus(type, "i-1");
    for (const GpuDevice& a : gpus) {
      EXPECT_TRUE(std::ranges::is_sorted(a.nvlinks, {}, &NvLink::peer));
      for (const GpuDevice& b : gpus) EXPECT_EQ(lanes(a, b), lanes(b, a)) << type.name;
      EXPECT_EQ(lanes(a, a), 0U);
    }
  }
}

TEST(instance_type_of_gpus, is_a_plain_slug_of_model_and_count) {
  EXPECT_EQ(instance_type_of_gpus({}), "cpu");
  std::vector<GpuDevice> gpus = {{.uuid = "GPU-1", .model = "NVIDIA H200"}};
  EXPECT_EQ(instance_type_of_gpus(gpus), "gpu.nvidia-h200-x1");
  gpus.push_back({.uuid = "GPU-2", .model = "Tesla V100-SXM2-16GB"});
  gpus.push_back({.uuid = "GPU-3", .model = "Tesla V100-SXM2-16GB"});
  EXPECT_EQ(instance_type_of_gpus(gpus), "gpu.tesla-v100-sxm2-16gb-x2");
  std::vector<GpuDevice> odd = {{.uuid = "GPU-1", .model = " (R) "}};
  EXPECT_EQ(instance_type_of_gpus(odd), "gpu.r-x1");
  odd[0].model = "---";
  EXPECT_EQ(instance_type_of_gpus(odd), "gpu.unknown-x1");
}

TEST(instance_type_of_gpus, counts_the_parent_of_mig_instances_once) {
  std::vector<GpuDevice> gpus = {
      {.uuid = "MIG-1", .model = "NVIDIA H200 MIG 1g.18gb", .mig_parent = "GPU-1"},
      {.uuid = "MIG-2", .model = "NVIDIA H200 MIG 1g.18gb", .mig_parent = "GPU-1"},
      {.uuid = "GPU-2", .model = "NVIDIA H200"},
  };
  EXPECT_EQ(instance_type_of_gpus(gpus), "gpu.nvidia-h200-x2");
}

}  // namespace
}  // namespace model
