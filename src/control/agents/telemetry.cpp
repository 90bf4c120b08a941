#include "control/agents/telemetry.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "acs/telemetry.h"
#include "base/units.h"
#include "control/agents/reports.h"

namespace control {
namespace {

bool is_health(const std::string& text) {
  return text == "HEALTHY" || text == "UNHEALTHY" || text == "UNKNOWN";
}

bool is_check_status(const std::string& text) {
  static constexpr std::array<std::string_view, 4> known{"IMPAIRED", "INITIALIZING",
                                                         "INSUFFICIENT_DATA", "OK"};
  return std::ranges::find(known, text) != known.end();
}

// Agents write "ContainerRuntime", the API "CONTAINER_RUNTIME". Empty for a check that it has not.
std::string_view check_type(const std::string& text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> types{
      {{"ContainerRuntime", "CONTAINER_RUNTIME"},
       {"AcceleratedCompute", "ACCELERATED_COMPUTE"},
       {"Daemon", "DAEMON"}}};
  for (const auto& [told, shown] : types) {
    if (text == told || text == shown) return shown;
  }
  return {};
}

void take(Step& step, const model::InstanceArn& instance,
          const acs::PublishHealthRequest& request) {
  for (const acs::TaskHealth& told : request.tasks) {
    const model::Task* const task = model::find_task(step.state(), model::TaskArn(told.task_arn));
    if (task == nullptr || task->instance != instance ||
        task->last_status == model::TaskStatus::Stopped) {
      continue;
    }
    std::map<std::string, std::string> changed;
    for (const acs::ContainerHealth& one : told.containers) {
      const auto known =
          std::ranges::find(task->containers, one.container_name, &model::TaskContainer::name);
      if (known == task->containers.end() || !is_health(one.health_status)) continue;
      if (known->health_status != one.health_status) {
        changed[one.container_name] = one.health_status;
      }
    }
    if (!changed.empty()) {
      step.change(model::ContainerHealthReported{task->arn, std::move(changed)});
    }
  }
}

void take(Step& step, const model::InstanceArn& instance,
          const acs::PublishInstanceStatusRequest& request) {
  model::InstanceObserved observed{.arn = instance, .checks = {}, .usage = {}};
  for (const acs::InstanceHealth& told : request.statuses) {
    const std::string_view type = check_type(told.type);
    if (type.empty() || !is_check_status(told.status)) continue;
    observed.checks.push_back({.type = std::string(type),
                               .status = told.status,
                               .reason = told.berth_reason.substr(0, most_reason),
                               .last_updated = told.last_updated,
                               .last_status_change = told.last_status_change});
  }
  if (!observed.checks.empty()) step.change(std::move(observed));
}

// The UUID of the GPU that these metrics are of; empty: they are of something else.
std::string gpu_of(const acs::GeneralMetricsWrapper& wrapper) {
  for (const acs::MetricDimension& dimension : wrapper.dimensions) {
    if (dimension.key == "AcceleratedDevice") return dimension.value;
  }
  return {};
}

double value_of(const acs::GeneralMetric& metric) {
  if (metric.metric_value_double) return *metric.metric_value_double;
  return static_cast<double>(metric.metric_value_long.value_or(0));
}

// Names and units: amazon-ecs-agent, agent/stats/engine.go.
model::GpuUsage usage_of(const acs::GeneralMetricsWrapper& wrapper, base::Time now) {
  model::GpuUsage usage;
  usage.at = now;
  for (const acs::GeneralMetric& metric : wrapper.general_metrics) {
    const double value = value_of(metric);
    if (metric.metric_name == "GPUUtilization") {
      usage.utilization_percent = std::clamp(value, 0.0, 100.0);
    } else if (metric.metric_name == "GPUMemoryUsed") {
      const double mib = std::clamp(value / base::bytes_per_mib, 0.0, 1e12);
      usage.memory_used_mib = static_cast<int64_t>(mib);
    } else if (metric.metric_name == "GPUTemperature") {
      usage.temperature_celsius = value;
    } else if (metric.metric_name == "GPUPowerDraw") {
      usage.power_watts = value;
    }
  }
  return usage;
}

// Agents tell the percentage of all cores of the machine, which is what its CPU units are of.
// Source: amazon-ecs-agent, agent/stats/utils_unix.go.
std::optional<model::ContainerUsage> usage_of(const acs::ContainerMetric& told,
                                              const model::ContainerInstance& instance,
                                              base::Time now) {
  const auto mean = [](const std::optional<acs::StatsSet>& set) -> std::optional<double> {
    if (!set || set->sample_count <= 0) return std::nullopt;
    const double value = set->sum / static_cast<double>(set->sample_count);
    return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
  };
  const std::optional<double> cpu = mean(told.cpu_stats_set);
  const std::optional<double> memory = mean(told.memory_stats_set);
  if (!cpu || !memory) return std::nullopt;
  return model::ContainerUsage{
      .cpu_units = std::min(*cpu, 100.0) / 100 * static_cast<double>(instance.cpu_units),
      .memory_used_mib = std::min(*memory, static_cast<double>(instance.memory_mib)),
      .at = now};
}

std::map<std::string, model::ContainerUsage> usages_of(const Step& step,
                                                       const model::ContainerInstance& instance,
                                                       const acs::TaskMetric& told) {
  std::map<std::string, model::ContainerUsage> usages;
  const model::Task* const task = model::find_task(step.state(), model::TaskArn(told.task_arn));
  if (task == nullptr || task->instance != instance.arn ||
      task->last_status == model::TaskStatus::Stopped) {
    return usages;
  }
  for (const acs::ContainerMetric& container : told.container_metrics) {
    const auto known =
        std::ranges::find(task->containers, container.container_name, &model::TaskContainer::name);
    if (known == task->containers.end()) continue;
    if (auto usage = usage_of(container, instance, step.now)) usages[known->name] = *usage;
  }
  return usages;
}

// An official agent tells of GPUs with the containers that have them; Berth's own agent of all.
void take(Step& step, const model::InstanceArn& instance,
          const acs::PublishMetricsRequest& request) {
  model::InstanceObserved observed{.arn = instance, .checks = {}, .usage = {}};
  const model::ContainerInstance& machine = *model::find_instance(step.state(), instance);
  for (const acs::TaskMetric& task : request.task_metrics) {
    auto usages = usages_of(step, machine, task);
    if (!usages.empty()) observed.containers[model::TaskArn(task.task_arn)] = std::move(usages);
    for (const acs::ContainerMetric& container : task.container_metrics) {
      for (const acs::GeneralMetricsWrapper& wrapper : container.general_metrics_payload) {
        const std::string gpu = gpu_of(wrapper);
        if (!gpu.empty()) observed.usage[gpu] = usage_of(wrapper, step.now);
      }
    }
  }
  for (const acs::BerthGpuMetric& told : request.berth_gpus) {
    observed.usage[told.gpu_id] = {
        .utilization_percent = std::clamp(told.utilization_percent, 0.0, 100.0),
        .memory_used_mib = told.memory_used_mib,
        .temperature_celsius = told.temperature_celsius,
        .power_watts = told.power_watts,
        .at = step.now};
  }
  if (observed.usage.empty() && observed.containers.empty()) return;
  step.change(std::move(observed));
}

}  // namespace

void take_telemetry(Step& step, const TelemetryReceived& received) {
  const auto* const instance = model::find_instance(step.state(), received.instance);
  if (instance == nullptr || instance->status == model::InstanceStatus::Inactive) return;
  std::visit([&](const auto& request) { take(step, received.instance, request); },
             received.request);
}

}  // namespace control
