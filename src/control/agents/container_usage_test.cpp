// What agents measure of containers, as DescribeTasks shows it.
#include <gtest/gtest.h>

#include <limits>

#include "control/testing.h"
#include "model/records.h"

namespace control {
namespace {

using testing::Plane;

class ContainerUsage : public ::testing::Test {
 protected:
  void SetUp() override {
    plane_.create_cluster();
    instance_ = plane_.register_instance("c5.2xlarge", "a");  // 8 cores.
    other_ = plane_.register_instance("c5.large", "b");
    plane_.step(SessionOpened{
        .session = 1, .cluster = model::ClusterName("default"), .instance = instance_});
    plane_.define("cpu", "", 80, 4096);  // Too much for the other one.
    task_ = *plane_.run_task("cpu")->tasks.at(0).task_arn;
    ASSERT_EQ(plane_.describe(task_).container_instance_arn, instance_.str());
    plane_.report(task_, "RUNNING");
  }

  acs::ContainerMetric metric(const std::string& name, double cpu, double memory) const {
    acs::ContainerMetric made;
    made.container_name = name;
    made.cpu_stats_set = {.min = 0, .max = 2 * cpu, .sample_count = 2, .sum = 2 * cpu};
    made.memory_stats_set = {.min = memory, .max = memory, .sample_count = 2, .sum = 2 * memory};
    return made;
  }
  void tell(const model::InstanceArn& from, acs::ContainerMetric container) {
    acs::PublishMetricsRequest request;
    acs::TaskMetric& told = request.task_metrics.emplace_back();
    told.task_arn = task_;
    told.container_metrics.push_back(std::move(container));
    plane_.step(TelemetryReceived{from, std::move(request)});
  }
  std::optional<api::ecs::BerthContainerUsage> shown() {
    return plane_.describe(task_).containers.at(0).berth_usage;
  }

  Plane plane_;
  model::InstanceArn instance_;
  model::InstanceArn other_;
  std::string task_;
};

TEST_F(ContainerUsage, is_shown_in_the_units_of_the_definition_with_its_time) {
  EXPECT_FALSE(shown());
  tell(instance_, metric("main", 25, 48.5));
  ASSERT_TRUE(shown());
  EXPECT_EQ(shown()->cpu_units_used, 2048);  // A quarter of 8 cores.
  EXPECT_EQ(shown()->memory_used_mib, 48.5);
  EXPECT_EQ(shown()->measured_at, plane_.now);
  tell(instance_, metric("main", 0, 12));
  EXPECT_EQ(shown()->cpu_units_used, 0);
}

TEST_F(ContainerUsage, is_of_memory_only_and_wakes_nobody) {
  const size_t before = plane_.changes.size();
  tell(instance_, metric("main", 25, 48.5));
  std::set<model::RecordKey> keys;
  for (size_t i = before; i < plane_.changes.size(); ++i) {
    model::add_record_keys(plane_.core.state(), plane_.changes[i], keys);
  }
  EXPECT_TRUE(keys.empty());
}

TEST_F(ContainerUsage, of_what_is_not_the_agents_or_of_no_use_changes_nothing) {
  tell(other_, metric("main", 25, 48));
  tell(instance_, metric("unheard", 25, 48));
  tell(instance_, metric("main", -1, 48));
  tell(instance_, metric("main", std::numeric_limits<double>::quiet_NaN(), 48));
  acs::ContainerMetric none = metric("main", 25, 48);
  none.cpu_stats_set->sample_count = 0;
  tell(instance_, none);
  none.cpu_stats_set.reset();
  tell(instance_, none);
  EXPECT_FALSE(shown());
  tell(instance_, metric("main", 1e300, 1e300));
  EXPECT_EQ(shown()->cpu_units_used, 8 * 1024);
  EXPECT_EQ(shown()->memory_used_mib, 16 * 1024);
}

TEST_F(ContainerUsage, of_an_agent_or_a_container_that_is_gone_is_not_shown_as_if_it_were_now) {
  tell(instance_, metric("main", 25, 48));
  ASSERT_TRUE(shown());
  plane_.step(SessionClosed{1, {}});
  plane_.pass(std::chrono::minutes(2));
  EXPECT_FALSE(shown());
  plane_.step(
      SessionOpened{.session = 2, .cluster = model::ClusterName("default"), .instance = instance_});
  tell(instance_, metric("main", 25, 48));
  ASSERT_TRUE(shown());
  plane_.report(task_, "STOPPED", 0);
  EXPECT_FALSE(shown());
  tell(instance_, metric("main", 25, 48));
  EXPECT_FALSE(shown());
}

}  // namespace
}  // namespace control
