#include "control/ecs/describe.h"

#include <algorithm>

#include "base/format.h"

namespace control::ecs {
namespace {

api::ecs::Resource integer_resource(std::string name, int64_t value) {
  api::ecs::Resource resource;
  resource.name = std::move(name);
  resource.type = "INTEGER";
  resource.integer_value = static_cast<int32_t>(value);
  resource.long_value = 0;
  resource.double_value = 0.0;
  return resource;
}

api::ecs::Resource set_resource(std::string name, std::vector<std::string> values) {
  api::ecs::Resource resource;
  resource.name = std::move(name);
  resource.type = "STRINGSET";
  resource.integer_value = 0;
  resource.long_value = 0;
  resource.double_value = 0.0;
  resource.string_set_value.set_present();
  for (std::string& value : values) resource.string_set_value.push_back(std::move(value));
  return resource;
}

// For ports the list is what is taken: registered, the machine's own; remaining, those and the
// tasks'. Source: the ECS API reference, "Resource".
std::vector<std::string> taken_ports(const model::ContainerInstance& instance, bool udp,
                                     bool with_tasks) {
  std::vector<std::string> ports;
  for (const model::HostPort& port : instance.reserved_ports) {
    if (port.udp == udp) ports.push_back(std::to_string(port.port));
  }
  if (!with_tasks) return ports;
  for (const auto& [port, task] : instance.ports_held) {
    if (port.udp == udp) ports.push_back(std::to_string(port.port));
  }
  return ports;
}

std::vector<std::string> gpu_ids(const model::ContainerInstance& instance, bool free_only) {
  std::vector<std::string> ids;
  for (const model::GpuSlot& gpu : instance.gpus) {
    const bool free = gpu.state == model::GpuState::Idle && gpu.device.healthy;
    if (free || !free_only) ids.push_back(gpu.device.uuid);
  }
  return ids;
}

api::List<api::ecs::Resource> resources_of(const model::ContainerInstance& instance,
                                           bool remaining) {
  api::List<api::ecs::Resource> resources;
  resources.push_back(
      integer_resource("CPU", remaining ? model::cpu_units_free(instance) : instance.cpu_units));
  resources.push_back(integer_resource(
      "MEMORY", remaining ? model::memory_mib_free(instance) : instance.memory_mib));
  resources.push_back(set_resource("PORTS", taken_ports(instance, false, remaining)));
  resources.push_back(set_resource("PORTS_UDP", taken_ports(instance, true, remaining)));
  if (!instance.gpus.empty()) {
    resources.push_back(set_resource("GPU", gpu_ids(instance, remaining)));
  }
  return resources;
}

api::ecs::GpuSharingMode sharing_mode(const model::GpuSlot& gpu) {
  if (gpu.holders.empty()) return api::ecs::GpuSharingMode::Idle;
  return gpu.holders.front().milli == model::whole_gpu_milli ? api::ecs::GpuSharingMode::Dedicated
                                                             : api::ecs::GpuSharingMode::NvidiaMps;
}

// Of a GPU that an agent other than Berth's has let go of.
constexpr std::string_view unproven_release =
    "unproven: its last task's agent cannot look at GPUs, and its STOPPED was taken as release";

void add_gpu_usage(const model::GpuUsage& usage, api::ecs::BerthGpuStatus& status) {
  status.utilization_percent = usage.utilization_percent;
  status.memory_used_mib = usage.memory_used_mib;
  status.temperature_celsius = usage.temperature_celsius;
  status.power_watts = usage.power_watts;
  status.measured_at = usage.at;
}

// What an agent measured that is gone says nothing about now.
void add_gpu_devices(const model::ContainerInstance& instance, api::ecs::ContainerInstance& made) {
  for (const model::GpuSlot& gpu : instance.gpus) {
    api::ecs::GpuDevice device;
    device.gpu_id = gpu.device.uuid;
    device.sharing_mode = sharing_mode(gpu);
    device.total_memory_in_mib = static_cast<int32_t>(gpu.device.memory_mib);
    device.remaining_memory_in_mib = static_cast<int32_t>(model::gpu_memory_mib_free(gpu));
    device.container_count = static_cast<int32_t>(gpu.holders.size());
    made.gpu_devices.push_back(std::move(device));

    api::ecs::BerthGpuStatus status;
    status.gpu_id = gpu.device.uuid;
    status.model = gpu.device.model;
    status.memory_mib = gpu.device.memory_mib;
    const bool idle = gpu.state == model::GpuState::Idle;
    status.state = idle && !gpu.device.healthy ? std::string("UNHEALTHY")
                                               : std::string(model::to_string(gpu.state));
    if (!gpu.reason.empty()) {
      status.reason = gpu.reason;
    } else if (idle && gpu.released_unproven) {
      status.reason = std::string(unproven_release);
    }
    if (!gpu.device.healthy) status.reason = gpu.device.health_reason;
    if (!gpu.holders.empty()) {
      status.task_arn = gpu.holders.front().task.str();
    } else if (!gpu.unproven_tasks.empty()) {
      status.task_arn = gpu.unproven_tasks.begin()->str();
    }
    status.emulated = gpu.device.emulated;
    status.numa_node = gpu.device.numa_node;
    status.healthy = gpu.device.healthy;
    if (gpu.usage && model::agent_answers(instance)) add_gpu_usage(*gpu.usage, status);
    made.berth_gpus.push_back(std::move(status));
  }
}

api::ecs::Attribute attribute(std::string name, std::string value) {
  api::ecs::Attribute made;
  made.name = std::move(name);
  if (!value.empty()) made.value = std::move(value);
  return made;
}

struct Tally {
  int32_t running = 0;  // Tasks.
  int32_t pending = 0;
  int32_t active = 0;  // Services.
  int32_t draining = 0;
};

// What runs in a cluster, by launch type. Source: ECS API reference, Cluster, statistics.
struct Tallies {
  Tally ec2;
  Tally external;
  Tally fargate;  // Nothing, ever.
  int32_t instances = 0;
};

Tallies tally(const Step& step, const model::Cluster& cluster) {
  Tallies made;
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.cluster != cluster.name) continue;
    if (instance.status != model::InstanceStatus::Inactive) ++made.instances;
    Tally& of_type = instance.external ? made.external : made.ec2;
    of_type.running += instance.running_tasks;
    of_type.pending += instance.pending_tasks;
  }
  const auto waiting = step.state().waiting_tasks.find(cluster.name);
  if (waiting != step.state().waiting_tasks.end()) {
    made.ec2.pending += static_cast<int32_t>(waiting->second.size());
  }
  for (const auto& [key, service] : step.state().services) {
    if (service.cluster != cluster.name) continue;
    Tally& of_type = service.source.launch_type == "EXTERNAL" ? made.external : made.ec2;
    of_type.active += service.status == model::ServiceStatus::Active ? 1 : 0;
    of_type.draining += service.status == model::ServiceStatus::Draining ? 1 : 0;
  }
  return made;
}

void add_statistics(const Tallies& tallies, api::ecs::Cluster& made) {
  const auto add = [&](std::string_view before, std::string_view type, std::string_view after,
                       int32_t count) {
    api::ecs::KeyValuePair pair;
    pair.name = base::format("{}{}{}", before, type, after);
    pair.value = std::to_string(count);
    made.statistics.push_back(std::move(pair));
  };
  const std::pair<std::string_view, const Tally&> types[] = {
      {"EC2", tallies.ec2}, {"Fargate", tallies.fargate}, {"External", tallies.external}};
  for (const auto& [type, count] : types) {
    add("running", type, "TasksCount", count.running);
    add("pending", type, "TasksCount", count.pending);
    add("active", type, "ServiceCount", count.active);
    add("draining", type, "ServiceCount", count.draining);
  }
}

// Container Insights are off where nobody has said otherwise. Source: ECS API reference,
// ClusterSetting.
void add_settings(const model::Cluster& cluster, api::ecs::Cluster& made) {
  made.settings = cluster.settings;
  const auto is_insights = [](const api::ecs::ClusterSetting& one) {
    return one.name == api::ecs::ClusterSettingName::ContainerInsights;
  };
  if (std::ranges::any_of(cluster.settings, is_insights)) return;
  api::ecs::ClusterSetting& insights = made.settings.emplace_back();
  insights.name = api::ecs::ClusterSettingName::ContainerInsights;
  insights.value = "disabled";
}

// What stands behind capacity providers with managed scaling on AWS: a scaling policy each.
void add_attachments(const Step& step, const model::Cluster& cluster, api::ecs::Cluster& made) {
  const auto detail = [](std::string name, std::string value) {
    api::ecs::KeyValuePair pair;
    pair.name = std::move(name);
    pair.value = std::move(value);
    return pair;
  };
  made.attachments.set_present();
  for (const std::string& name : cluster.capacity_providers) {
    const auto provider = step.state().capacity_providers.find(name);
    if (provider == step.state().capacity_providers.end()) continue;
    made.attachments_status = "UPDATE_COMPLETE";
    const auto& scaling = provider->second.group.managed_scaling;
    if (!scaling || scaling->status != api::ecs::ManagedScalingStatus::Enabled) continue;
    api::ecs::Attachment attachment;
    attachment.id = base::format("{}/{}", cluster.name.str(), name);
    attachment.type = "as_policy";
    attachment.status = "CREATED";
    attachment.details = {
        detail("capacityProviderName", name),
        detail("scalingPolicyName", base::format("ECSManagedAutoScalingPolicy-{}", name))};
    made.attachments.push_back(std::move(attachment));
  }
}

}  // namespace

api::ecs::Cluster describe_cluster(const Step& step, const model::Cluster& cluster,
                                   const ClusterInclude& include) {
  api::ecs::Cluster made;
  made.cluster_arn = model::cluster_arn(step.settings.account, cluster.name);
  made.cluster_name = cluster.name.str();
  made.status = std::string(model::to_string(cluster.status));
  const Tallies tallies = tally(step, cluster);
  made.registered_container_instances_count = tallies.instances;
  made.running_tasks_count = tallies.ec2.running + tallies.external.running;
  made.pending_tasks_count = tallies.ec2.pending + tallies.external.pending;
  made.active_services_count = tallies.ec2.active + tallies.external.active;
  made.statistics.set_present();
  made.settings.set_present();
  made.capacity_providers = cluster.capacity_providers;
  made.default_capacity_provider_strategy = cluster.default_capacity_provider_strategy;
  made.default_capacity_provider_strategy.set_present();
  if (!cluster.service_connect_namespace.empty()) {
    made.service_connect_defaults.emplace().namespace_ = cluster.service_connect_namespace;
  }
  if (include.attachments) add_attachments(step, cluster, made);
  if (include.tags) made.tags = cluster.tags;
  made.tags.set_present();
  if (include.settings) add_settings(cluster, made);
  if (include.configurations) made.configuration = cluster.configuration;
  if (include.statistics) add_statistics(tallies, made);
  return made;
}

api::ecs::ContainerInstance describe_instance(const Step& step,
                                              const model::ContainerInstance& instance,
                                              bool include_tags) {
  static_cast<void>(step);
  api::ecs::ContainerInstance made;
  made.container_instance_arn = instance.arn.str();
  if (!instance.capacity_provider.empty()) made.capacity_provider_name = instance.capacity_provider;
  made.ec2_instance_id = instance.ec2_instance_id;
  made.version = instance.version;
  made.version_info.emplace();
  made.version_info->agent_version = instance.agent_version;
  made.version_info->agent_hash = instance.agent_hash;
  made.version_info->docker_version = instance.docker_version;
  made.registered_resources = resources_of(instance, false);
  made.remaining_resources = resources_of(instance, true);
  made.status = std::string(model::to_string(instance.status));
  if (!instance.status_reason.empty()) made.status_reason = instance.status_reason;
  made.agent_connected = model::agent_answers(instance);
  made.running_tasks_count = instance.running_tasks;
  made.pending_tasks_count = instance.pending_tasks;
  made.registered_at = instance.registered_at;
  made.attributes.set_present();
  for (const auto& [name, value] : instance.attributes) {
    made.attributes.push_back(attribute(name, value));
  }
  made.attachments.set_present();
  if (include_tags) made.tags = instance.tags;
  made.tags.set_present();
  add_gpu_devices(instance, made);
  return made;
}

api::ecs::Failure failure(std::string arn, std::string_view reason, std::string detail) {
  api::ecs::Failure made;
  if (!arn.empty()) made.arn = std::move(arn);
  made.reason = std::string(reason);
  if (!detail.empty()) made.detail = std::move(detail);
  return made;
}

}  // namespace control::ecs
