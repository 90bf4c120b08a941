#include "agent/telemetry_messages.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/format.h"
#include "base/units.h"

namespace agent {
namespace {

constexpr size_t most_tasks = 10;  // Of one message.

acs::GeneralMetric metric(std::string name, double value, std::string unit) {
  return {.metric_name = std::move(name),
          .metric_value_double = value,
          .metric_value_long = {},
          .unit = std::move(unit)};
}

acs::GeneralMetric counted(std::string name, int64_t value, std::string unit) {
  return {.metric_name = std::move(name),
          .metric_value_double = {},
          .metric_value_long = value,
          .unit = std::move(unit)};
}

acs::GeneralMetricsWrapper official_metrics(const GpuFigures& gpu) {
  const gpu::DeviceUse& use = gpu.use;
  acs::GeneralMetricsWrapper made;
  made.dimensions.push_back({"AcceleratedDevice", gpu.uuid});
  auto& all = made.general_metrics;
  all.push_back(metric("GPUUtilization", use.utilisation_percent, "Percent"));
  if (use.total_mib > 0) {
    const double part = static_cast<double>(use.used_mib) / static_cast<double>(use.total_mib);
    all.push_back(metric("GPUMemoryUtilization", part * 100, "Percent"));
  }
  all.push_back(counted("GPUMemoryTotal", use.total_mib * base::bytes_per_mib, "Bytes"));
  all.push_back(counted("GPUMemoryUsed", use.used_mib * base::bytes_per_mib, "Bytes"));
  if (use.power_watts) all.push_back(metric("GPUPowerDraw", *use.power_watts, "None"));
  if (use.temperature_celsius) {
    all.push_back(metric("GPUTemperature", *use.temperature_celsius, "None"));
  }
  return made;
}

acs::BerthGpuMetric berth_metric(const GpuFigures& gpu) {
  return {.gpu_id = gpu.uuid,
          .utilization_percent = static_cast<double>(gpu.use.utilisation_percent),
          .memory_used_mib = gpu.use.used_mib,
          .temperature_celsius = gpu.use.temperature_celsius,
          .power_watts = gpu.use.power_watts};
}

// The containers of the task that run and of which there is something to tell; `in_use` learns the
// UUIDs of their GPUs.
std::vector<acs::ContainerMetric> container_metrics(const MachineView& view, const core::Task& task,
                                                    std::set<std::string>& in_use) {
  std::vector<acs::ContainerMetric> containers;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    if (task.record.containers[i].status != core::ContainerStatus::Running) continue;
    const acs::Container& container = task.payload.containers[i];
    const std::vector<std::string> uuids = core::gpu_access(task.payload, container).uuids;
    const auto used = view.containers.find(task.record.containers[i].runtime_id);
    if (uuids.empty() && used == view.containers.end()) continue;
    in_use.insert(uuids.begin(), uuids.end());
    acs::ContainerMetric& made = containers.emplace_back();
    made.container_name = container.name;
    made.container_arn = container.container_arn;
    if (used != view.containers.end()) {
      made.cpu_stats_set = used->second.cpu;
      made.memory_stats_set = used->second.memory;
    }
    for (const GpuFigures& gpu : view.figures) {
      if (std::ranges::find(uuids, gpu.uuid) == uuids.end()) continue;
      made.general_metrics_payload.push_back(official_metrics(gpu));
    }
  }
  return containers;
}

std::vector<acs::TaskMetric> task_metrics(const MachineView& view, std::set<std::string>& in_use) {
  std::vector<acs::TaskMetric> tasks;
  for (const auto& [arn, task] : view.core.tasks()) {
    auto containers = container_metrics(view, task, in_use);
    if (containers.empty()) continue;
    tasks.push_back({.task_arn = arn,
                     .cluster_arn = task.payload.task_cluster_arn,
                     .task_definition_family = task.payload.family,
                     .task_definition_version = task.payload.version,
                     .container_metrics = std::move(containers)});
  }
  return tasks;
}

acs::InstanceMetrics instance_metrics(const MachineView& view, size_t in_use) {
  acs::InstanceMetrics made;
  auto& all = made.general_metrics_payload.emplace_back().general_metrics;
  all.push_back(counted("InstanceGPULimit", static_cast<int64_t>(view.gpus.gpus.size()), "Count"));
  all.push_back(counted("InstanceGPUUsageTotal", static_cast<int64_t>(in_use), "Count"));
  return made;
}

// Why some of its GPUs do not work; empty when all do.
std::string gpu_trouble(const gpu::Inventory& gpus) {
  std::vector<std::string> sick;
  for (const model::GpuDevice& gpu : gpus.gpus) {
    if (!gpu.healthy) sick.push_back(base::format("GPU {}: {}", gpu.uuid, gpu.health_reason));
  }
  sick.insert(sick.end(), gpus.problems.begin(), gpus.problems.end());
  return base::format("{}", base::join(sick, "; "));
}

}  // namespace

std::vector<acs::PublishMetricsRequest> metrics_round(const MachineView& view, base::Time now) {
  std::set<std::string> in_use;
  std::vector<acs::TaskMetric> tasks = task_metrics(view, in_use);
  std::vector<acs::PublishMetricsRequest> round;
  for (size_t at = 0; round.empty() || at < tasks.size(); at += most_tasks) {
    acs::PublishMetricsRequest& message = round.emplace_back();
    message.timestamp = now;
    acs::MetricsMetadata& metadata = message.metadata.emplace();
    metadata.cluster = view.core.config().cluster;
    metadata.container_instance = view.core.container_instance_arn();
    metadata.idle = view.core.idle();
    for (size_t i = at; i < std::min(at + most_tasks, tasks.size()); ++i) {
      message.task_metrics.push_back(std::move(tasks[i]));
    }
  }
  round.back().metadata->fin = true;
  if (!view.gpus.gpus.empty()) {
    round.front().instance_metrics = instance_metrics(view, in_use.size());
  }
  for (const GpuFigures& gpu : view.figures) {
    round.front().berth_gpus.push_back(berth_metric(gpu));
  }
  return round;
}

acs::PublishInstanceStatusRequest InstanceChecks::report(const MachineView& view, base::Time now) {
  acs::PublishInstanceStatusRequest made;
  made.timestamp = now;
  acs::InstanceStatusMetadata& metadata = made.metadata.emplace();
  metadata.cluster = view.core.config().cluster;
  metadata.container_instance = view.core.container_instance_arn();
  made.statuses.push_back(
      check("ContainerRuntime",
            view.core.runtime_ready() ? std::string() : view.core.runtime_reason(), now));
  if (!view.gpus.gpus.empty() || !view.gpus.problems.empty()) {
    made.statuses.push_back(check("AcceleratedCompute", gpu_trouble(view.gpus), now));
  }
  return made;
}

acs::InstanceHealth InstanceChecks::check(const std::string& type, const std::string& trouble,
                                          base::Time now) {
  const std::string status = trouble.empty() ? "OK" : "IMPAIRED";
  Known& known = known_[type];
  if (known.status != status) known = {status, now};
  return {.type = type,
          .status = status,
          .last_status_change = known.since,
          .last_updated = now,
          .berth_reason = trouble};
}

}  // namespace agent
