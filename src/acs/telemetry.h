// The telemetry stream (TCS) of the ECS agent protocol.
//
// Frames from agent to server are not bare JSON: a block of signed HTTP headers stands before the
// envelope. Frames from server to agent are bare envelopes.
// Source: amazon-ecs-agent, ecs-agent/tcs/model/ecstcs/api.go, ecs-agent/tcs/client/client.go.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/shape.h"
#include "base/result.h"
#include "base/time.h"

namespace acs {

// Samples since the last message, about one a second.
struct StatsSet {
  double min = 0;
  double max = 0;
  int64_t sample_count = 0;
  double sum = 0;
  friend bool operator==(const StatsSet&, const StatsSet&) = default;
};
API_DESCRIBED(StatsSet);

// Of counters; the overflow members carry what is beyond 63 bits.
struct ULongStatsSet {
  int64_t min = 0;
  int64_t max = 0;
  int64_t sample_count = 0;
  int64_t sum = 0;
  std::optional<int64_t> overflow_min;
  std::optional<int64_t> overflow_max;
  std::optional<int64_t> overflow_sum;
  friend bool operator==(const ULongStatsSet&, const ULongStatsSet&) = default;
};
API_DESCRIBED(ULongStatsSet);

struct NetworkStatsSet {
  std::optional<ULongStatsSet> rx_bytes;
  std::optional<ULongStatsSet> rx_packets;
  std::optional<ULongStatsSet> rx_errors;
  std::optional<ULongStatsSet> rx_dropped;
  std::optional<ULongStatsSet> tx_bytes;
  std::optional<ULongStatsSet> tx_packets;
  std::optional<ULongStatsSet> tx_errors;
  std::optional<ULongStatsSet> tx_dropped;
  std::optional<StatsSet> rx_bytes_per_second;
  std::optional<StatsSet> tx_bytes_per_second;
  friend bool operator==(const NetworkStatsSet&, const NetworkStatsSet&) = default;
};
API_DESCRIBED(NetworkStatsSet);

struct StorageStatsSet {
  std::optional<ULongStatsSet> read_size_bytes;
  std::optional<ULongStatsSet> write_size_bytes;
  friend bool operator==(const StorageStatsSet&, const StorageStatsSet&) = default;
};
API_DESCRIBED(StorageStatsSet);

struct RestartStatsSet {
  int64_t restart_count = 0;
  friend bool operator==(const RestartStatsSet&, const RestartStatsSet&) = default;
};
API_DESCRIBED(RestartStatsSet);

// A measure that has no member of its own.
struct GeneralMetric {
  std::string metric_name;  // "GPUUtilization".
  std::optional<double> metric_value_double;
  std::optional<int64_t> metric_value_long;
  std::string unit;  // "Percent", "Bytes", "Count" or "None".
  friend bool operator==(const GeneralMetric&, const GeneralMetric&) = default;
};
API_DESCRIBED(GeneralMetric);

struct MetricDimension {
  std::string key;  // "AcceleratedDevice": the value is a GPU's UUID.
  std::string value;
  friend bool operator==(const MetricDimension&, const MetricDimension&) = default;
};
API_DESCRIBED(MetricDimension);

struct GeneralMetricsWrapper {
  std::vector<MetricDimension> dimensions;
  std::vector<GeneralMetric> general_metrics;
  friend bool operator==(const GeneralMetricsWrapper&, const GeneralMetricsWrapper&) = default;
};
API_DESCRIBED(GeneralMetricsWrapper);

// Of the machine: InstanceGPULimit and InstanceGPUUsageTotal.
struct InstanceMetrics {
  std::vector<GeneralMetricsWrapper> general_metrics_payload;
  friend bool operator==(const InstanceMetrics&, const InstanceMetrics&) = default;
};
API_DESCRIBED(InstanceMetrics);

struct ContainerMetric {
  std::string container_name;
  std::string container_arn;
  std::optional<StatsSet> cpu_stats_set;     // Percent of all the machine's cores together.
  std::optional<StatsSet> memory_stats_set;  // MiB.
  std::optional<NetworkStatsSet> network_stats_set;
  std::optional<StorageStatsSet> storage_stats_set;
  std::optional<RestartStatsSet> restart_stats_set;
  std::vector<GeneralMetricsWrapper> general_metrics_payload;  // One for each of its GPUs.
  friend bool operator==(const ContainerMetric&, const ContainerMetric&) = default;
};
API_DESCRIBED(ContainerMetric);

struct TaskMetric {
  std::string task_arn;
  std::string cluster_arn;
  std::string task_definition_family;
  std::string task_definition_version;
  std::vector<ContainerMetric> container_metrics;
  friend bool operator==(const TaskMetric&, const TaskMetric&) = default;
};
API_DESCRIBED(TaskMetric);

// Berth's own: what was measured of one GPU, in whoever's hands it is.
struct BerthGpuMetric {
  std::string gpu_id;
  double utilization_percent = 0;
  int64_t memory_used_mib = 0;
  std::optional<double> temperature_celsius;
  std::optional<double> power_watts;
  friend bool operator==(const BerthGpuMetric&, const BerthGpuMetric&) = default;
};
API_DESCRIBED(BerthGpuMetric);

struct MetricsMetadata {
  std::string cluster;
  std::string container_instance;
  bool idle = false;  // No task runs.
  bool fin = false;   // The last message of one round.
  std::string message_id;
  friend bool operator==(const MetricsMetadata&, const MetricsMetadata&) = default;
};
API_DESCRIBED(MetricsMetadata);

// Every 20 s; at most 10 tasks and 1 MiB a message.
struct PublishMetricsRequest {
  std::optional<MetricsMetadata> metadata;
  std::optional<InstanceMetrics> instance_metrics;  // In the first message of a round.
  std::vector<TaskMetric> task_metrics;
  std::vector<BerthGpuMetric> berth_gpus;  // In the first message of a round.
  base::Time timestamp{};
  friend bool operator==(const PublishMetricsRequest&, const PublishMetricsRequest&) = default;
};
API_DESCRIBED(PublishMetricsRequest);

struct ContainerHealth {
  std::string container_name;
  std::string health_status;  // "HEALTHY", "UNHEALTHY" or "UNKNOWN".
  base::Time status_since{};
  std::string status_message;
  friend bool operator==(const ContainerHealth&, const ContainerHealth&) = default;
};
API_DESCRIBED(ContainerHealth);

struct TaskHealth {
  std::string task_arn;
  std::string cluster_arn;
  std::string task_definition_family;
  std::string task_definition_version;
  std::vector<ContainerHealth> containers;
  friend bool operator==(const TaskHealth&, const TaskHealth&) = default;
};
API_DESCRIBED(TaskHealth);

struct HealthMetadata {
  std::string cluster;
  std::string container_instance;
  bool fin = false;
  std::string message_id;
  friend bool operator==(const HealthMetadata&, const HealthMetadata&) = default;
};
API_DESCRIBED(HealthMetadata);

// Only containers with a health check. An official agent tells container health nowhere else.
struct PublishHealthRequest {
  std::optional<HealthMetadata> metadata;
  std::vector<TaskHealth> tasks;
  base::Time timestamp{};
  friend bool operator==(const PublishHealthRequest&, const PublishHealthRequest&) = default;
};
API_DESCRIBED(PublishHealthRequest);

struct InstanceStatusMetadata {
  std::string cluster;
  std::string container_instance;
  std::string request_id;
  friend bool operator==(const InstanceStatusMetadata&, const InstanceStatusMetadata&) = default;
};
API_DESCRIBED(InstanceStatusMetadata);

struct InstanceHealth {
  std::string type;    // "ContainerRuntime", "AcceleratedCompute".
  std::string status;  // "OK", "IMPAIRED", "INSUFFICIENT_DATA" or "INITIALIZING".
  base::Time last_status_change{};
  base::Time last_updated{};
  std::string berth_reason;  // Why it is not OK, one sentence.
  friend bool operator==(const InstanceHealth&, const InstanceHealth&) = default;
};
API_DESCRIBED(InstanceHealth);

// At most every 20 s, after a heartbeat of the control stream.
struct PublishInstanceStatusRequest {
  std::optional<InstanceStatusMetadata> metadata;
  std::vector<InstanceHealth> statuses;
  base::Time timestamp{};
  friend bool operator==(const PublishInstanceStatusRequest&,
                         const PublishInstanceStatusRequest&) = default;
};
API_DESCRIBED(PublishInstanceStatusRequest);

using TelemetryRequest =
    std::variant<PublishMetricsRequest, PublishHealthRequest, PublishInstanceStatusRequest>;

// Server to agent: AckPublishMetric, AckPublishHealth and AckPublishInstanceStatus {message},
// HeartbeatMessage {healthy}, StopTelemetrySessionMessage {message}, and the exceptions
// {message}. `type` is that name.
struct TelemetryMessage {
  std::string type;
  std::string message;
  std::optional<bool> healthy;  // Of HeartbeatMessage.
  friend bool operator==(const TelemetryMessage&, const TelemetryMessage&) = default;
};
API_DESCRIBED(TelemetryMessage);

struct TelemetryFrame {
  std::vector<std::pair<std::string, std::string>> headers;  // Names as written, values trimmed.
  std::string_view envelope;                                 // Lives as long as the frame's text.
};

// Splits a frame at its first CRLFCRLF; a frame that starts with "{" has no header block.
// Errors: SerializationException when the blank line is missing or a header has no colon.
base::Result<TelemetryFrame> split_telemetry_frame(std::string_view frame);

// `headers` is the signed block: "Name: value\r\n" for each, without the blank line.
std::string join_telemetry_frame(std::string_view headers, const TelemetryRequest& request);

// Of a bare envelope. Errors: as decode_agent_message (messages.h).
base::Result<TelemetryRequest> decode_telemetry_request(std::string_view envelope);
base::Result<TelemetryMessage> decode_telemetry_message(std::string_view envelope);
std::string encode(const TelemetryRequest& request);
std::string encode(const TelemetryMessage& message);

// What a server answers a request with.
TelemetryMessage acknowledge(const TelemetryRequest& request);

}  // namespace acs
