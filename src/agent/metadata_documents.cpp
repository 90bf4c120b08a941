#include "agent/metadata_documents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/core/container_body.h"
#include "agent/core/container_network.h"

namespace agent {
namespace {

void set_time(json::Value& object, std::string_view name, const std::optional<base::Time>& time) {
  if (time) object.set(name, base::format_rfc3339(*time));
}

void set_text(json::Value& object, std::string_view name, const std::string& text) {
  if (!text.empty()) object.set(name, text);
}

std::string_view known_status(core::ContainerStatus status) {
  switch (status) {
    case core::ContainerStatus::None:
      return "NONE";
    case core::ContainerStatus::Created:
      return "CREATED";
    case core::ContainerStatus::Running:
      return "RUNNING";
    case core::ContainerStatus::Stopped:
      return "STOPPED";
  }
  return "NONE";
}

std::string_view known_status(const core::Task& task) {
  if (task.all_stopped()) return "STOPPED";
  if (task.record.reached_running) return "RUNNING";
  const bool created = std::ranges::all_of(task.record.containers, [](const auto& container) {
    return container.status != core::ContainerStatus::None;
  });
  return created ? "CREATED" : "NONE";
}

json::Value labels_of(const core::Config& config, const core::Task& task, size_t index) {
  const acs::Container& container = task.payload.containers[index];
  json::Value labels = json::Value::object();
  if (container.docker_config) {
    const auto given = core::parse_docker_part(container.docker_config->config, "config");
    if (given && (*given)["Labels"].is_object()) labels = (*given)["Labels"];
  }
  labels.set("com.amazonaws.ecs.cluster", config.cluster);
  labels.set("com.amazonaws.ecs.container-name", container.name);
  labels.set("com.amazonaws.ecs.task-arn", task.record.arn);
  labels.set("com.amazonaws.ecs.task-definition-family", task.payload.family);
  labels.set("com.amazonaws.ecs.task-definition-version", task.payload.version);
  return labels;
}

json::Value networks_of(const core::Task& task, size_t index) {
  const std::optional<size_t> pause = core::pause_index(task.payload);
  const bool shared = pause && core::has_task_network(task.payload);
  json::Value network = json::Value::object(
      {{"NetworkMode", core::network_mode(task.payload)},
       {"IPv4Addresses", json::Value::array(task.work[shared ? *pause : index].ip_addresses)}});
  if (shared && !task.payload.elastic_network_interfaces.empty()) {
    network.set("AttachmentIndex", 0);
    set_text(network, "MACAddress", task.payload.elastic_network_interfaces.front().mac_address);
  }
  json::Value list = json::Value::array();
  list.push(std::move(network));
  return list;
}

json::Value ports_of(const core::ContainerRecord& container) {
  json::Value ports = json::Value::array();
  for (const api::ecs::NetworkBinding& binding : container.network_bindings) {
    if (!binding.container_port) continue;
    const bool udp = binding.protocol == api::ecs::TransportProtocol::Udp;
    ports.push(json::Value::object({{"ContainerPort", *binding.container_port},
                                    {"Protocol", udp ? "udp" : "tcp"},
                                    {"HostPort", binding.host_port.value_or(0)},
                                    {"HostIp", binding.bind_ip.value_or("")}}));
  }
  return ports;
}

json::Value volumes_of(const acs::Container& container) {
  json::Value volumes = json::Value::array();
  for (const acs::MountPoint& mount : container.mount_points) {
    volumes.push(json::Value::object(
        {{"DockerName", mount.source_volume}, {"Destination", mount.container_path}}));
  }
  return volumes;
}

void add_log_driver(const acs::Container& container, json::Value& made) {
  if (!container.docker_config) return;
  const auto host = core::parse_docker_part(container.docker_config->host_config, "hostConfig");
  if (!host || !(*host)["LogConfig"].is_object()) return;
  made.set("LogDriver", (*host)["LogConfig"]["Type"]);
  made.set("LogOptions", (*host)["LogConfig"]["Config"]);
}

void add_health(const core::ContainerWork& work, json::Value& made) {
  if (work.health == core::HealthStatus::None) return;
  const bool healthy = work.health == core::HealthStatus::Healthy;
  const bool unhealthy = work.health == core::HealthStatus::Unhealthy;
  json::Value health = json::Value::object({{"status", healthy     ? "HEALTHY"
                                                       : unhealthy ? "UNHEALTHY"
                                                                   : "UNKNOWN"}});
  set_time(health, "statusSince", work.health_since);
  set_text(health, "output", work.health_output);
  made.set("Health", std::move(health));
}

// Ours: the GPUs that the container was given.
void add_gpus(const MetadataView& view, const core::Task& task, size_t index, json::Value& made) {
  const core::GpuAccess access = core::gpu_access(task.payload, task.payload.containers[index]);
  if (access.uuids.empty()) return;
  json::Value gpus = json::Value::array();
  for (const std::string& uuid : access.uuids) {
    json::Value gpu = json::Value::object({{"UUID", uuid}});
    const auto known = std::ranges::find(view.gpus.gpus, uuid, &model::GpuDevice::uuid);
    if (known != view.gpus.gpus.end()) {
      gpu.set("Model", known->model);
      gpu.set("MemoryMiB", access.sharing ? access.sharing->memory_mib : known->memory_mib);
      gpu.set("Emulated", known->emulated);
    }
    gpu.set("SharingMode", access.sharing ? "NVIDIA_MPS" : "DEDICATED");
    gpus.push(std::move(gpu));
  }
  made.set("Gpus", std::move(gpus));
}

}  // namespace

json::Value container_document(const MetadataView& view, const Found& found) {
  const core::Task& task = *found.task;
  const acs::Container& given = task.payload.containers[found.index];
  const core::ContainerRecord& record = task.record.containers[found.index];
  const core::ContainerWork& work = task.work[found.index];
  const bool pause = core::is_pause(given);
  json::Value made = json::Value::object({{"DockerId", record.runtime_id},
                                          {"Name", given.name},
                                          {"DockerName", record.docker_name},
                                          {"Image", given.image},
                                          {"ImageID", record.image_id}});
  json::Value ports = ports_of(record);
  if (!ports.items().empty()) made.set("Ports", std::move(ports));
  made.set("Labels", labels_of(view.core.config(), task, found.index));
  made.set("DesiredStatus", task.record.stop_desired ? "STOPPED" : "RUNNING");
  made.set("KnownStatus", known_status(record.status));
  if (record.exit_code) made.set("ExitCode", *record.exit_code);
  made.set("Limits", json::Value::object({{"CPU", given.cpu}, {"Memory", given.memory}}));
  set_time(made, "CreatedAt", work.created_at);
  set_time(made, "StartedAt", record.started_at);
  set_time(made, "FinishedAt", record.finished_at);
  made.set("Type", pause ? "CNI_PAUSE" : "NORMAL");
  add_health(work, made);
  json::Value volumes = volumes_of(given);
  if (!volumes.items().empty()) made.set("Volumes", std::move(volumes));
  add_log_driver(given, made);
  set_text(made, "ContainerARN", given.container_arn);
  made.set("Networks", networks_of(task, found.index));
  const bool restarts = given.restart_policy && given.restart_policy->enabled;
  if (restarts) made.set("RestartCount", record.restart_count);
  add_gpus(view, task, found.index, made);
  return made;
}

json::Value task_document(const MetadataView& view, const core::Task& task) {
  const acs::Task& payload = task.payload;
  json::Value made =
      json::Value::object({{"Cluster", payload.task_cluster_arn.empty() ? view.core.config().cluster
                                                                        : payload.task_cluster_arn},
                           {"TaskARN", payload.arn},
                           {"Family", payload.family},
                           {"Revision", payload.version}});
  set_text(made, "ServiceName", payload.service_name);
  set_text(made, "Group", payload.group);
  made.set("DesiredStatus", task.record.stop_desired ? "STOPPED" : "RUNNING");
  made.set("KnownStatus", known_status(task));
  if (payload.cpu || payload.memory) {
    json::Value limits = json::Value::object();
    if (payload.cpu) limits.set("CPU", *payload.cpu);
    if (payload.memory) limits.set("Memory", *payload.memory);
    made.set("Limits", std::move(limits));
  }
  set_time(made, "PullStartedAt", task.record.pull_started_at);
  set_time(made, "PullStoppedAt", task.record.pull_stopped_at);
  set_time(made, "ExecutionStoppedAt", task.record.execution_stopped_at);
  set_text(made, "AvailabilityZone", view.availability_zone);
  set_text(made, "LaunchType", payload.launch_type);
  json::Value containers = json::Value::array();
  for (size_t i = 0; i < payload.containers.size(); ++i) {
    containers.push(container_document(view, {&task, i}));
  }
  made.set("Containers", std::move(containers));
  return made;
}

}  // namespace agent
