#include "agent/telemetry_messages.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "agent/core/testing_running.h"

namespace agent {
namespace {

const base::Time round_time{base::Milliseconds{1'700'000'000'000}};

GpuFigures figures_of(const std::string& uuid, int32_t percent, int64_t used_mib) {
  GpuFigures made{.uuid = uuid, .use = {}};
  made.use.utilisation_percent = percent;
  made.use.used_mib = used_mib;
  made.use.total_mib = 16384;
  made.use.temperature_celsius = 61.5;
  return made;
}

gpu::Inventory two_gpus() {
  gpu::Inventory made;
  made.gpus.push_back({.uuid = "GPU-1", .memory_mib = 16384});
  made.gpus.push_back({.uuid = "GPU-2", .memory_mib = 16384});
  return made;
}

// "GPUUtilization=87" and so on, of one wrapper.
std::string metrics_text(const acs::GeneralMetricsWrapper& wrapper) {
  std::string text;
  for (const acs::MetricDimension& dimension : wrapper.dimensions) {
    text += base::format("{}:{}", dimension.key, dimension.value);
  }
  for (const acs::GeneralMetric& metric : wrapper.general_metrics) {
    const double value = metric.metric_value_double.value_or(
        static_cast<double>(metric.metric_value_long.value_or(-1)));
    text += base::format(" {}={} {}", metric.metric_name, value, metric.unit);
  }
  return text;
}

TEST(TelemetryMessages, a_gpu_is_told_with_its_container_as_the_official_agent_does_and_by_itself) {
  core::testing::Running t(
      R"({"arn":"t1","family":"f","version":"3","associations":[{"type":"gpu","name":"GPU-1","containers":["a"]}],)"
      R"("containers":[{"name":"a","image":"b","essential":true}]})");
  const gpu::Inventory gpus = two_gpus();
  const std::vector<GpuFigures> figures{figures_of("GPU-1", 87, 4096), figures_of("GPU-2", 0, 0)};
  const auto round = metrics_round({t.core(), gpus, figures, {}}, round_time);
  ASSERT_EQ(round.size(), 1U);
  EXPECT_TRUE(round[0].metadata->fin);
  EXPECT_FALSE(round[0].metadata->idle);
  ASSERT_TRUE(round[0].instance_metrics);
  EXPECT_EQ(metrics_text(round[0].instance_metrics->general_metrics_payload.at(0)),
            " InstanceGPULimit=2 Count InstanceGPUUsageTotal=1 Count");
  ASSERT_EQ(round[0].task_metrics.size(), 1U);
  EXPECT_EQ(round[0].task_metrics[0].task_definition_version, "3");
  const acs::ContainerMetric& container = round[0].task_metrics[0].container_metrics.at(0);
  EXPECT_EQ(container.container_name, "a");
  ASSERT_EQ(container.general_metrics_payload.size(), 1U);
  EXPECT_EQ(metrics_text(container.general_metrics_payload[0]),
            "AcceleratedDevice:GPU-1 GPUUtilization=87 Percent GPUMemoryUtilization=25 Percent "
            "GPUMemoryTotal=17179869184 Bytes GPUMemoryUsed=4294967296 Bytes "
            "GPUTemperature=61.5 None");
  ASSERT_EQ(round[0].berth_gpus.size(), 2U);
  EXPECT_EQ(round[0].berth_gpus[1].gpu_id, "GPU-2");
  EXPECT_FALSE(round[0].berth_gpus[1].power_watts);
}

TEST(TelemetryMessages, a_machine_without_gpus_is_idle_and_still_there) {
  core::testing::Up t;
  const auto round = metrics_round({t.core(), {}, {}, {}}, round_time);
  ASSERT_EQ(round.size(), 1U);
  EXPECT_TRUE(round[0].metadata->fin && round[0].metadata->idle);
  EXPECT_FALSE(round[0].instance_metrics);
  EXPECT_TRUE(round[0].task_metrics.empty() && round[0].berth_gpus.empty());
}

TEST(TelemetryMessages, ten_tasks_are_one_message_and_the_last_says_so) {
  core::testing::Up t;
  gpu::Inventory gpus;
  std::vector<GpuFigures> figures;
  for (int i = 1; i <= 11; ++i) {
    const std::string uuid = base::format("GPU-{}", i);
    gpus.gpus.push_back({.uuid = uuid});
    figures.push_back(figures_of(uuid, i, 0));
    // Operations 2 to 4 are the first task's: look up, create, start; report 5.
    const int op = 2 + (i - 1) * 4;
    t.play(base::format(
        "> payload m{0} {{\"arn\":\"t{0}\",\"associations\":[{{\"type\":\"gpu\",\"name\":\"{1}\","
        "\"containers\":[\"a\"]}}],\"containers\":[{{\"name\":\"a\",\"image\":\"b\","
        "\"essential\":true}}]}}\n> done {2} image\n> done {3} created c{0}\n> done {4} ok\n"
        "> submitted {5} accepted\n",
        i, uuid, op, op + 1, op + 2, op + 3));
  }
  const auto round = metrics_round({t.core(), gpus, figures, {}}, round_time);
  ASSERT_EQ(round.size(), 2U);
  EXPECT_EQ(round[0].task_metrics.size(), 10U);
  EXPECT_EQ(round[1].task_metrics.size(), 1U);
  EXPECT_FALSE(round[0].metadata->fin);
  EXPECT_TRUE(round[1].metadata->fin);
  EXPECT_EQ(round[0].berth_gpus.size(), 11U);
  EXPECT_TRUE(round[1].berth_gpus.empty() && !round[1].instance_metrics);
}

TEST(TelemetryMessages, a_check_keeps_the_time_of_its_last_change_and_names_what_is_wrong) {
  core::testing::Up t;
  gpu::Inventory gpus = two_gpus();
  InstanceChecks checks;
  const auto told = [&](base::Time now) {
    return checks.report({t.core(), gpus, {}, {}}, now).statuses;
  };
  auto statuses = told(round_time);
  ASSERT_EQ(statuses.size(), 2U);
  EXPECT_EQ(statuses[0].type, "ContainerRuntime");
  EXPECT_EQ(statuses[0].status, "OK");
  EXPECT_EQ(statuses[1].type, "AcceleratedCompute");
  EXPECT_EQ(statuses[1].status, "OK");
  const base::Time later = round_time + std::chrono::minutes(1);
  EXPECT_EQ(told(later)[1].last_status_change, round_time);
  EXPECT_EQ(told(later)[1].last_updated, later);
  gpus.gpus[1].healthy = false;
  gpus.gpus[1].health_reason = "Xid 79: it has fallen off the bus";
  statuses = told(later);
  EXPECT_EQ(statuses[1].status, "IMPAIRED");
  EXPECT_EQ(statuses[1].berth_reason, "GPU GPU-2: Xid 79: it has fallen off the bus");
  EXPECT_EQ(statuses[1].last_status_change, later);
  t.play("> lost no answer\n");
  EXPECT_EQ(told(later)[0].status, "IMPAIRED");
  EXPECT_EQ(told(later)[0].berth_reason, "no answer");
}

TEST(TelemetryMessages, a_gpu_that_cannot_be_listed_is_trouble_too_and_no_gpu_is_no_check) {
  core::testing::Up t;
  gpu::Inventory gpus;
  InstanceChecks checks;
  EXPECT_EQ(checks.report({t.core(), gpus, {}, {}}, round_time).statuses.size(), 1U);
  gpus.problems.push_back("GPU 0 cannot be opened: reset it");
  const auto statuses = checks.report({t.core(), gpus, {}, {}}, round_time).statuses;
  ASSERT_EQ(statuses.size(), 2U);
  EXPECT_EQ(statuses[1].status, "IMPAIRED");
  EXPECT_EQ(statuses[1].berth_reason, "GPU 0 cannot be opened: reset it");
}

}  // namespace
}  // namespace agent
