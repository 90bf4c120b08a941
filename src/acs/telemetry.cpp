#include "acs/telemetry.h"

#include "acs/envelope.h"
#include "api/describe.h"

namespace acs {

API_DESCRIBE(StatsSet, API_MEMBER(min, "min"), API_MEMBER(max, "max"),
             API_MEMBER(sample_count, "sampleCount"), API_MEMBER(sum, "sum"));
API_DESCRIBE(ULongStatsSet, API_MEMBER(min, "min"), API_MEMBER(max, "max"),
             API_MEMBER(sample_count, "sampleCount"), API_MEMBER(sum, "sum"),
             API_MEMBER(overflow_min, "overflowMin"), API_MEMBER(overflow_max, "overflowMax"),
             API_MEMBER(overflow_sum, "overflowSum"));
API_DESCRIBE(NetworkStatsSet, API_MEMBER(rx_bytes, "rxBytes"), API_MEMBER(rx_packets, "rxPackets"),
             API_MEMBER(rx_errors, "rxErrors"), API_MEMBER(rx_dropped, "rxDropped"),
             API_MEMBER(tx_bytes, "txBytes"), API_MEMBER(tx_packets, "txPackets"),
             API_MEMBER(tx_errors, "txErrors"), API_MEMBER(tx_dropped, "txDropped"),
             API_MEMBER(rx_bytes_per_second, "rxBytesPerSecond"),
             API_MEMBER(tx_bytes_per_second, "txBytesPerSecond"));
API_DESCRIBE(StorageStatsSet, API_MEMBER(read_size_bytes, "readSizeBytes"),
             API_MEMBER(write_size_bytes, "writeSizeBytes"));
API_DESCRIBE(RestartStatsSet, API_MEMBER(restart_count, "restartCount"));
API_DESCRIBE(GeneralMetric, API_MEMBER(metric_name, "metricName"),
             API_MEMBER(metric_value_double, "metricValueDouble"),
             API_MEMBER(metric_value_long, "metricValueLong"), API_MEMBER(unit, "unit"));
API_DESCRIBE(MetricDimension, API_MEMBER(key, "key"), API_MEMBER(value, "value"));
API_DESCRIBE(GeneralMetricsWrapper, API_MEMBER(dimensions, "dimensions"),
             API_MEMBER(general_metrics, "generalMetrics"));
API_DESCRIBE(InstanceMetrics, API_MEMBER(general_metrics_payload, "generalMetricsPayload"));
API_DESCRIBE(ContainerMetric, API_MEMBER(container_name, "containerName"),
             API_MEMBER(container_arn, "containerArn"), API_MEMBER(cpu_stats_set, "cpuStatsSet"),
             API_MEMBER(memory_stats_set, "memoryStatsSet"),
             API_MEMBER(network_stats_set, "networkStatsSet"),
             API_MEMBER(storage_stats_set, "storageStatsSet"),
             API_MEMBER(restart_stats_set, "restartStatsSet"),
             API_MEMBER(general_metrics_payload, "generalMetricsPayload"));
API_DESCRIBE(TaskMetric, API_MEMBER(task_arn, "taskArn"), API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(task_definition_family, "taskDefinitionFamily"),
             API_MEMBER(task_definition_version, "taskDefinitionVersion"),
             API_MEMBER(container_metrics, "containerMetrics"));
API_DESCRIBE(BerthGpuMetric, API_MEMBER(gpu_id, "gpuId"),
             API_MEMBER(utilization_percent, "utilizationPercent"),
             API_MEMBER(memory_used_mib, "memoryUsedMiB"),
             API_MEMBER(temperature_celsius, "temperatureCelsius"),
             API_MEMBER(power_watts, "powerWatts"));
API_DESCRIBE(MetricsMetadata, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance, "containerInstance"), API_MEMBER(idle, "idle"),
             API_MEMBER(fin, "fin"), API_MEMBER(message_id, "messageId"));
API_DESCRIBE(PublishMetricsRequest, API_MEMBER(metadata, "metadata"),
             API_MEMBER(instance_metrics, "instanceMetrics"),
             API_MEMBER(task_metrics, "taskMetrics"), API_MEMBER(berth_gpus, "berthGpus"),
             API_MEMBER(timestamp, "timestamp"));
API_DESCRIBE(ContainerHealth, API_MEMBER(container_name, "containerName"),
             API_MEMBER(health_status, "healthStatus"), API_MEMBER(status_since, "statusSince"),
             API_MEMBER(status_message, "statusMessage"));
API_DESCRIBE(TaskHealth, API_MEMBER(task_arn, "taskArn"), API_MEMBER(cluster_arn, "clusterArn"),
             API_MEMBER(task_definition_family, "taskDefinitionFamily"),
             API_MEMBER(task_definition_version, "taskDefinitionVersion"),
             API_MEMBER(containers, "containers"));
API_DESCRIBE(HealthMetadata, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance, "containerInstance"), API_MEMBER(fin, "fin"),
             API_MEMBER(message_id, "messageId"));
API_DESCRIBE(PublishHealthRequest, API_MEMBER(metadata, "metadata"), API_MEMBER(tasks, "tasks"),
             API_MEMBER(timestamp, "timestamp"));
API_DESCRIBE(InstanceStatusMetadata, API_MEMBER(cluster, "cluster"),
             API_MEMBER(container_instance, "containerInstance"),
             API_MEMBER(request_id, "requestId"));
API_DESCRIBE(InstanceHealth, API_MEMBER(type, "type"), API_MEMBER(status, "status"),
             API_MEMBER(last_status_change, "lastStatusChange"),
             API_MEMBER(last_updated, "lastUpdated"), API_MEMBER(berth_reason, "berthReason"));
API_DESCRIBE(PublishInstanceStatusRequest, API_MEMBER(metadata, "metadata"),
             API_MEMBER(statuses, "statuses"), API_MEMBER(timestamp, "timestamp"));
API_DESCRIBE(TelemetryMessage, API_MEMBER(message, "message"), API_MEMBER(healthy, "healthy"));

namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

}  // namespace

base::Result<TelemetryFrame> split_telemetry_frame(std::string_view frame) {
  TelemetryFrame split;
  if (frame.starts_with('{')) {
    split.envelope = frame;
    return split;
  }
  const size_t end = frame.find("\r\n\r\n");
  if (end == std::string_view::npos) {
    return base::fail("SerializationException",
                      "A telemetry frame needs a blank line behind its block of headers.");
  }
  split.envelope = frame.substr(end + 4);
  std::string_view block = frame.substr(0, end);
  while (!block.empty()) {
    const size_t line_end = std::min(block.find("\r\n"), block.size());
    const std::string_view line = block.substr(0, line_end);
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return base::fail("SerializationException", "A header of a telemetry frame has no colon.");
    }
    split.headers.emplace_back(line.substr(0, colon), trim(line.substr(colon + 1)));
    block.remove_prefix(std::min(line_end + 2, block.size()));
  }
  return split;
}

std::string join_telemetry_frame(std::string_view headers, const TelemetryRequest& request) {
  return base::format("{}\r\n{}", headers, encode(request));
}

base::Result<TelemetryRequest> decode_telemetry_request(std::string_view envelope) {
  return parse_alternative<TelemetryRequest>(TRY(open_envelope(envelope)));
}

base::Result<TelemetryMessage> decode_telemetry_message(std::string_view envelope) {
  const Envelope opened = TRY(open_envelope(envelope));
  TelemetryMessage message = TRY(parse_body<TelemetryMessage>(opened));
  message.type = opened.type;
  return message;
}

std::string encode(const TelemetryRequest& request) {
  return seal(envelope_type(request), print_alternative(request));
}

std::string encode(const TelemetryMessage& message) {
  return seal(message.type, api::print(message));
}

TelemetryMessage acknowledge(const TelemetryRequest& request) {
  switch (request.index()) {
    case 0:
      return {.type = "AckPublishMetric", .message = "metrics received", .healthy = {}};
    case 1:
      return {.type = "AckPublishHealth", .message = "health received", .healthy = {}};
    default:
      return {.type = "AckPublishInstanceStatus", .message = "status received", .healthy = {}};
  }
}

}  // namespace acs
