// What agents measure of GPUs, as DescribeContainerInstances shows it.
#include <gtest/gtest.h>

#include "control/testing.h"

namespace control {
namespace {

using testing::Plane;

class GpuUsage : public ::testing::Test {
 protected:
  void SetUp() override {
    plane_.create_cluster();
    instance_ = plane_.register_instance("p3.8xlarge", "g");
    plane_.step(SessionOpened{
        .session = 1, .cluster = model::ClusterName("default"), .instance = instance_});
  }
  std::string uuid(size_t index) const {
    return plane_.core.state().instances.at(instance_).gpus.at(index).device.uuid;
  }
  api::ecs::BerthGpuStatus shown(size_t index) {
    api::ecs::DescribeContainerInstancesRequest request;
    request.container_instances.push_back(instance_.str());
    const auto told = plane_.call<api::ecs::DescribeContainerInstancesResponse>(
        "DescribeContainerInstances", request);
    EXPECT_TRUE(told);
    return told->container_instances.at(0).berth_gpus.at(index);
  }
  void tell(acs::PublishMetricsRequest request) {
    plane_.step(TelemetryReceived{instance_, std::move(request)});
  }

  Plane plane_;
  model::InstanceArn instance_;
};

acs::PublishMetricsRequest from_berth(const std::string& uuid, double percent) {
  acs::PublishMetricsRequest request;
  request.berth_gpus.push_back({.gpu_id = uuid,
                                .utilization_percent = percent,
                                .memory_used_mib = 1024,
                                .temperature_celsius = 61,
                                .power_watts = {}});
  return request;
}

acs::GeneralMetric metric(std::string name, std::optional<double> real,
                          std::optional<int64_t> whole) {
  return {.metric_name = std::move(name),
          .metric_value_double = real,
          .metric_value_long = whole,
          .unit = "None"};
}

// As the official agent tells of a container's GPU.
acs::PublishMetricsRequest from_official(const std::string& uuid) {
  acs::PublishMetricsRequest request;
  acs::GeneralMetricsWrapper& gpu = request.task_metrics.emplace_back()
                                        .container_metrics.emplace_back()
                                        .general_metrics_payload.emplace_back();
  gpu.dimensions.push_back({"AcceleratedDevice", uuid});
  gpu.general_metrics = {metric("GPUUtilization", 42.5, {}),
                         metric("GPUMemoryUsed", {}, int64_t{3} << 30),
                         metric("GPUPowerDraw", 250, {}), metric("Unheard", 1, {})};
  return request;
}

TEST_F(GpuUsage, is_shown_of_the_gpu_that_was_measured_with_its_time) {
  EXPECT_FALSE(shown(0).utilization_percent || shown(0).measured_at);
  EXPECT_EQ(shown(0).healthy, true);
  tell(from_berth(uuid(0), 87.5));
  const api::ecs::BerthGpuStatus told = shown(0);
  EXPECT_EQ(told.utilization_percent, 87.5);
  EXPECT_EQ(told.memory_used_mib, 1024);
  EXPECT_EQ(told.temperature_celsius, 61);
  EXPECT_FALSE(told.power_watts);
  EXPECT_EQ(told.measured_at, plane_.now);
  EXPECT_FALSE(shown(1).utilization_percent);
}

TEST_F(GpuUsage, comes_from_an_official_agent_with_its_containers) {
  tell(from_official(uuid(2)));
  const api::ecs::BerthGpuStatus told = shown(2);
  EXPECT_EQ(told.utilization_percent, 42.5);
  EXPECT_EQ(told.memory_used_mib, 3072);
  EXPECT_EQ(told.power_watts, 250);
  EXPECT_FALSE(told.temperature_celsius);
}

TEST_F(GpuUsage, of_other_things_changes_nothing) {
  acs::PublishMetricsRequest request = from_official(uuid(1));
  request.task_metrics[0].container_metrics[0].general_metrics_payload[0].dimensions[0].key =
      "Disk";
  tell(std::move(request));
  tell(from_official("GPU-of-nobody"));
  tell({});
  for (size_t i = 0; i < 4; ++i) EXPECT_FALSE(shown(i).measured_at) << i;
}

TEST_F(GpuUsage, of_an_agent_that_is_gone_is_not_shown_as_if_it_were_now) {
  tell(from_berth(uuid(0), 50));
  plane_.step(SessionClosed{1, {}});
  plane_.pass(std::chrono::minutes(2));
  ASSERT_FALSE(plane_.core.state().instances.at(instance_).agent_connected);
  EXPECT_FALSE(shown(0).utilization_percent || shown(0).measured_at);
}

}  // namespace
}  // namespace control
