#include "gpu/health.h"

#include <gtest/gtest.h>

namespace gpu {
namespace {

class Health : public ::testing::Test {
 protected:
  Health() {
    inventory_.gpus.push_back({.uuid = "GPU-a"});
    inventory_.gpus.push_back({.uuid = "MIG-1", .mig_parent = "GPU-b"});
    inventory_.gpus.push_back({.uuid = "MIG-2", .mig_parent = "GPU-b"});
  }
  bool apply(const HealthEvent& event) { return apply_health({{event}}, inventory_); }
  std::string told() const {
    std::string text;
    for (const model::GpuDevice& gpu : inventory_.gpus) {
      text += gpu.healthy ? "well;" : gpu.health_reason + ";";
    }
    return text;
  }

  Inventory inventory_;
};

TEST_F(Health, a_failure_is_of_one_gpu_with_its_instances_or_of_all) {
  EXPECT_TRUE(apply({.uuid = "GPU-b", .xid = 79, .reason = "lost"}));
  EXPECT_EQ(told(), "well;lost;lost;");
  EXPECT_TRUE(apply({.reason = "driver"}));
  EXPECT_EQ(told(), "driver;driver;driver;");
  EXPECT_TRUE(apply({.uuid = "GPU-a", .usable = true, .reason = "it is well again"}));
  EXPECT_EQ(told(), "well;driver;driver;");
}

TEST_F(Health, an_error_that_a_gpu_survives_does_not_heal_a_failed_one) {
  EXPECT_FALSE(apply({.uuid = "GPU-a", .usable = true, .xid = 31, .reason = "a page fault"}));
  EXPECT_TRUE(apply({.uuid = "GPU-a", .xid = 79, .reason = "lost"}));
  EXPECT_FALSE(apply({.uuid = "GPU-a", .usable = true, .xid = 31, .reason = "a page fault"}));
  EXPECT_EQ(told(), "lost;well;well;");
}

TEST_F(Health, what_is_known_or_of_no_gpu_here_changes_nothing) {
  EXPECT_FALSE(apply({.uuid = "GPU-x", .reason = "lost"}));
  EXPECT_TRUE(apply({.uuid = "GPU-a", .reason = "lost"}));
  EXPECT_FALSE(apply({.uuid = "GPU-a", .reason = "lost"}));
}

}  // namespace
}  // namespace gpu
