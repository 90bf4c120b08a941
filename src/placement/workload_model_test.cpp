#include "placement/workload_model.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "placement/testing.h"

namespace placement::test {
namespace {

// Four instances with 4 GPUs and 40 cores each, and tasks that arrive.
class FourInstances {
 public:
  FourInstances() {
    for (int i = 0; i < 4; ++i) {
      model::ContainerInstance instance;
      instance.arn = model::instance_arn({}, cluster_name, base::format("{}", i));
      instance.cluster = cluster_name;
      instance.agent_connected = true;
      instance.cpu_units = 40'960;
      instance.memory_mib = 100'000;
      instance.gpus.resize(4);
      for (model::GpuSlot& slot : instance.gpus) slot.device.memory_mib = 16'384;
      fleet.update(instance);
    }
  }
  void arrive(const pack::Kind& kind, int count) {
    for (int i = 0; i < count; ++i) {
      workload_model.observe(kind);
      workload_model.sync(state, fleet, filters);
    }
  }

  model::ClusterState state;
  Fleet fleet;
  Filters filters;
  WorkloadModel workload_model{Policy::Berth};
};

TEST(WorkloadModel, no_gpu_is_scarce_while_the_cpu_is_what_runs_out) {
  FourInstances world;
  world.arrive({.cpu_units = 1'024, .whole_gpus = 1}, 100);
  EXPECT_GT(world.workload_model.scale().tuning.scarcity, 0) << "a tenth of the CPU that a GPU has";
  const uint64_t before = world.workload_model.changed_at();
  world.arrive({.cpu_units = 30'000}, 1'000);
  EXPECT_EQ(world.workload_model.scale().tuning.scarcity, 0);
  EXPECT_GT(world.workload_model.changed_at(), before) << "all scores are stale";
  world.arrive({.cpu_units = 1'024, .whole_gpus = 4}, 8'192);
  EXPECT_GT(world.workload_model.scale().tuning.scarcity, 0) << "the workload has changed back";
}

TEST(WorkloadModel, a_few_tasks_say_nothing_about_what_runs_out) {
  FourInstances world;
  world.arrive({.cpu_units = 30'000}, 32);
  EXPECT_GT(world.workload_model.scale().tuning.scarcity, 0);
}

TEST(WorkloadModel, the_policies_that_were_published_have_no_terms_of_ours) {
  for (const Policy policy : {Policy::Fgd, Policy::BestFit, Policy::Random}) {
    FourInstances world;
    world.workload_model = WorkloadModel(policy);
    world.arrive({.cpu_units = 30'000}, 1'000);
    EXPECT_EQ(world.workload_model.scale().tuning.scarcity, 0);
    EXPECT_EQ(world.workload_model.scale().tuning.stranded_cpu, 0);
    EXPECT_EQ(world.workload_model.scale().tuning.worth, 0);
  }
}

}  // namespace
}  // namespace placement::test
