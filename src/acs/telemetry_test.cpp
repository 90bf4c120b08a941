#include "acs/telemetry.h"

#include <gtest/gtest.h>

#include <string>

namespace acs {
namespace {

TEST(telemetry, a_frame_is_split_at_its_first_blank_line) {
  const std::string text =
      "Authorization: AWS4-HMAC-SHA256 Credential=AKIA/20260101\r\nHost: 127.0.0.1:7117\r\n"
      "X-Amz-Date: 20260101T000000Z\r\n\r\n{\"type\":\"PublishHealthRequest\",\"message\":{}}";
  const auto frame = split_telemetry_frame(text);
  ASSERT_TRUE(frame);
  ASSERT_EQ(frame->headers.size(), 3U);
  EXPECT_EQ(frame->headers[1].first, "Host");
  EXPECT_EQ(frame->headers[1].second, "127.0.0.1:7117");
  const auto request = decode_telemetry_request(frame->envelope);
  ASSERT_TRUE(request);
  EXPECT_TRUE(std::holds_alternative<PublishHealthRequest>(*request));
}

TEST(telemetry, a_blank_line_in_the_json_does_not_split_again) {
  const std::string text = "Host: h\r\n\r\n{\"type\":\"X\"}\r\n\r\ntail";
  const auto frame = split_telemetry_frame(text);
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->envelope, "{\"type\":\"X\"}\r\n\r\ntail");
}

TEST(telemetry, a_bare_envelope_is_taken_as_it_is) {
  const auto frame = split_telemetry_frame("{\"type\":\"X\"}");
  ASSERT_TRUE(frame);
  EXPECT_TRUE(frame->headers.empty());
  EXPECT_EQ(frame->envelope, "{\"type\":\"X\"}");
}

TEST(telemetry, frames_without_blank_line_or_colon_are_refused) {
  for (const char* text : {"", "Host: h", "Host: h\r\n", "no colon\r\n\r\n{}", "\r\n"}) {
    EXPECT_FALSE(split_telemetry_frame(text)) << text;
  }
}

TEST(telemetry, health_travels_whole) {
  PublishHealthRequest request;
  request.metadata = HealthMetadata{"default", "ci", true, "m"};
  request.timestamp = base::Time(base::Milliseconds(1700000000500));
  TaskHealth& task = request.tasks.emplace_back();
  task.task_arn = "t";
  task.containers.push_back({"main", "HEALTHY", request.timestamp, "fine"});
  const std::string text = join_telemetry_frame("Host: h\r\n", TelemetryRequest(request));
  const auto frame = split_telemetry_frame(text);
  ASSERT_TRUE(frame);
  const auto decoded = decode_telemetry_request(frame->envelope);
  ASSERT_TRUE(decoded) << decoded.error().message;
  EXPECT_EQ(std::get<PublishHealthRequest>(*decoded), request);
}

TEST(telemetry, what_an_official_agent_tells_of_gpus_is_read) {
  const auto request = decode_telemetry_request(
      R"({"type":"PublishMetricsRequest","message":{"instanceMetrics":{"generalMetricsPayload":[)"
      R"({"generalMetrics":[{"metricName":"InstanceGPULimit","metricValueLong":8,"unit":"Count"}]}]},)"
      R"("taskMetrics":[{"taskArn":"t","containerMetrics":[{"containerName":"a",)"
      R"("generalMetricsPayload":[{"dimensions":[{"key":"AcceleratedDevice","value":"GPU-1"}],)"
      R"("generalMetrics":[{"metricName":"GPUUtilization","metricValueDouble":42.5,)"
      R"("unit":"Percent"}]}]}]}]}})");
  ASSERT_TRUE(request) << request.error().message;
  const auto& metrics = std::get<PublishMetricsRequest>(*request);
  ASSERT_TRUE(metrics.instance_metrics);
  EXPECT_EQ(metrics.instance_metrics->general_metrics_payload.at(0).general_metrics.at(0),
            (GeneralMetric{"InstanceGPULimit", {}, 8, "Count"}));
  const GeneralMetricsWrapper& gpu =
      metrics.task_metrics.at(0).container_metrics.at(0).general_metrics_payload.at(0);
  EXPECT_EQ(gpu.dimensions.at(0), (MetricDimension{"AcceleratedDevice", "GPU-1"}));
  EXPECT_EQ(gpu.general_metrics.at(0), (GeneralMetric{"GPUUtilization", 42.5, {}, "Percent"}));
}

TEST(telemetry, metrics_of_the_official_agent_are_read) {
  const auto request = decode_telemetry_request(
      R"({"type":"PublishMetricsRequest","message":{"metadata":{"cluster":"default",)"
      R"("containerInstance":"ci","fin":true,"idle":false,"messageId":"m"},"taskMetrics":[)"
      R"({"taskArn":"t","taskDefinitionFamily":"f","taskDefinitionVersion":"1",)"
      R"("containerMetrics":[{"containerName":"main","cpuStatsSet":{"max":2.5,"min":0.5,)"
      R"("sampleCount":20,"sum":30},"networkStatsSet":{"rxBytes":{"max":9,"min":1,)"
      R"("overflowSum":3,"sampleCount":20,"sum":100}}}]}],"timestamp":1.7e9}})");
  ASSERT_TRUE(request) << request.error().message;
  const auto& metrics = std::get<PublishMetricsRequest>(*request);
  const ContainerMetric& container = metrics.task_metrics.at(0).container_metrics.at(0);
  EXPECT_EQ(container.cpu_stats_set->sum, 30);
  EXPECT_EQ(container.network_stats_set->rx_bytes->overflow_sum, 3);
  EXPECT_EQ(acknowledge(*request).type, "AckPublishMetric");
}

TEST(telemetry, acknowledgements_read_back) {
  for (const TelemetryRequest& request :
       {TelemetryRequest(PublishMetricsRequest{}), TelemetryRequest(PublishHealthRequest{}),
        TelemetryRequest(PublishInstanceStatusRequest{})}) {
    const TelemetryMessage message = acknowledge(request);
    const auto decoded = decode_telemetry_message(encode(message));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(*decoded, message);
  }
}

}  // namespace
}  // namespace acs
