#include "control/describe.h"

#include <algorithm>

#include "base/format.h"
#include "control/capacity/queue_explain.h"
#include "control/task_network.h"
#include "control/task_plan.h"

namespace control {
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

void add_usage(const model::GpuUsage& usage, api::ecs::BerthGpuStatus& status) {
  status.utilization_percent = usage.utilization_percent;
  status.memory_used_mib = usage.memory_used_mib;
  status.temperature_celsius = usage.temperature_celsius;
  status.power_watts = usage.power_watts;
  status.measured_at = usage.at;
}

// What an agent measured that is gone, or of a container that is, says nothing about now.
void add_usage(const Step& step, const model::Task& task, const model::TaskContainer& container,
               api::ecs::Container& made) {
  const auto* const instance = model::find_instance(step.state(), task.instance);
  const auto usage = task.usage.find(container.name);
  if (usage == task.usage.end() || container.last_status != model::TaskStatus::Running ||
      instance == nullptr || !instance->agent_connected) {
    return;
  }
  made.berth_usage.emplace();
  made.berth_usage->cpu_units_used = usage->second.cpu_units;
  made.berth_usage->memory_used_mib = usage->second.memory_used_mib;
  made.berth_usage->measured_at = usage->second.at;
}

// What an agent measured that is gone says nothing about now.
void add_gpus(const model::ContainerInstance& instance, api::ecs::ContainerInstance& made) {
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
    if (gpu.usage && instance.agent_connected) add_usage(*gpu.usage, status);
    made.berth_gpus.push_back(std::move(status));
  }
}

api::ecs::SharingStrategy sharing_of(const model::GpuAssignment& assignment) {
  api::ecs::SharingStrategy strategy;
  strategy.nvidia_mps.emplace();
  strategy.nvidia_mps->memory = static_cast<int32_t>(assignment.memory_mib);
  if (assignment.max_compute_percent > 0) {
    strategy.nvidia_mps->max_compute_percent = assignment.max_compute_percent;
  }
  return strategy;
}

void add_gpu_assignments(const Step& step, const model::Task& task,
                         api::ecs::Container& container) {
  const model::ContainerInstance* const instance =
      model::find_instance(step.state(), task.instance);
  for (const model::GpuAssignment& held : task.held.gpus) {
    if (held.container != container.name) continue;
    container.gpu_ids.push_back(held.gpu);
    if (held.shared) container.gpu_sharing_strategy = sharing_of(held);
    const model::GpuSlot* const gpu =
        instance == nullptr ? nullptr : model::find_gpu(*instance, held.gpu);
    if (gpu == nullptr) continue;
    api::ecs::BerthGpuAssignment detail;
    detail.gpu_id = held.gpu;
    detail.model = gpu->device.model;
    detail.memory_mib = held.shared ? held.memory_mib : gpu->device.memory_mib;
    detail.emulated = gpu->device.emulated;
    container.berth_gpus.push_back(std::move(detail));
  }
}

const api::ecs::ContainerDefinition* definition_of(const model::TaskDefinition* definition,
                                                   const std::string& name) {
  if (definition == nullptr) return nullptr;
  const auto& all = definition->definition.container_definitions;
  const auto found = std::ranges::find_if(
      all, [&](const api::ecs::ContainerDefinition& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

api::ecs::Container describe_container(const Step& step, const model::Task& task,
                                       const model::TaskContainer& container,
                                       const api::ecs::ContainerDefinition* definition) {
  api::ecs::Container made;
  made.container_arn = container.arn;
  made.task_arn = task.arn.str();
  made.name = container.name;
  made.image = container.image;
  if (!container.image_digest.empty()) made.image_digest = container.image_digest;
  if (!container.runtime_id.empty()) made.runtime_id = container.runtime_id;
  made.last_status = std::string(model::to_string(container.last_status));
  made.exit_code = container.exit_code;
  if (!container.reason.empty()) made.reason = container.reason;
  made.network_bindings = container.network_bindings;
  made.network_bindings.set_present();
  made.network_interfaces.set_present();
  made.health_status = api::parse_enum<api::ecs::HealthStatus>(container.health_status);
  if (definition != nullptr) {
    made.cpu = std::to_string(definition->cpu.value_or(0));
    if (definition->memory) made.memory = std::to_string(*definition->memory);
    if (definition->memory_reservation) {
      made.memory_reservation = std::to_string(*definition->memory_reservation);
    }
  }
  add_gpu_assignments(step, task, made);
  add_usage(step, task, container, made);
  return made;
}

api::ecs::Attribute attribute(std::string name, std::string value) {
  api::ecs::Attribute made;
  made.name = std::move(name);
  if (!value.empty()) made.value = std::move(value);
  return made;
}

// The worst of the task's containers. Source: ECS API reference, Task, healthStatus.
api::ecs::HealthStatus task_health(const model::Task& task) {
  bool all_healthy = !task.containers.empty();
  for (const model::TaskContainer& container : task.containers) {
    if (container.health_status == "UNHEALTHY") return api::ecs::HealthStatus::Unhealthy;
    all_healthy = all_healthy && container.health_status == "HEALTHY";
  }
  return all_healthy ? api::ecs::HealthStatus::Healthy : api::ecs::HealthStatus::Unknown;
}

// What it holds; of a task that has no instance yet, what it asks for.
void add_size(const model::TaskDefinition* definition, const model::Task& task,
              api::ecs::Task& made) {
  int64_t cpu_units = task.held.cpu_units;
  int64_t memory_mib = task.held.memory_mib;
  if (task.instance.empty() && definition != nullptr) {
    if (const auto request = request_of(*definition, task.overrides)) {
      cpu_units = request->resources.cpu_units;
      memory_mib = request->resources.memory_mib;
    }
  }
  made.cpu = std::to_string(cpu_units);
  made.memory = std::to_string(memory_mib);
}

int32_t active_services(const Step& step, const model::Cluster& cluster) {
  return static_cast<int32_t>(std::ranges::count_if(step.state().services, [&](const auto& entry) {
    return entry.second.cluster == cluster.name &&
           entry.second.status != model::ServiceStatus::Inactive;
  }));
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
  int32_t instances = 0;
  int32_t running = 0;
  int32_t pending = 0;
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.cluster != cluster.name) continue;
    if (instance.status != model::InstanceStatus::Inactive) ++instances;
    running += instance.running_tasks;
    pending += instance.pending_tasks;
  }
  const auto waiting = step.state().waiting_tasks.find(cluster.name);
  if (waiting != step.state().waiting_tasks.end()) {
    pending += static_cast<int32_t>(waiting->second.size());
  }
  made.registered_container_instances_count = instances;
  made.running_tasks_count = running;
  made.pending_tasks_count = pending;
  made.active_services_count = active_services(step, cluster);
  made.statistics.set_present();
  made.tags.set_present();
  made.settings.set_present();
  made.capacity_providers = cluster.capacity_providers;
  made.default_capacity_provider_strategy = cluster.default_capacity_provider_strategy;
  made.default_capacity_provider_strategy.set_present();
  if (!cluster.service_connect_namespace.empty()) {
    made.service_connect_defaults.emplace().namespace_ = cluster.service_connect_namespace;
  }
  if (include.attachments) add_attachments(step, cluster, made);
  if (include.tags) made.tags = cluster.tags;
  if (include.settings) made.settings = cluster.settings;
  if (include.configurations) made.configuration = cluster.configuration;
  if (include.statistics) {
    const auto count = [&](std::string name, int32_t value) {
      api::ecs::KeyValuePair pair;
      pair.name = std::move(name);
      pair.value = std::to_string(value);
      made.statistics.push_back(std::move(pair));
    };
    count("runningEC2TasksCount", running);
    count("pendingEC2TasksCount", pending);
  }
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
  made.agent_connected = instance.agent_connected;
  made.running_tasks_count = instance.running_tasks;
  made.pending_tasks_count = instance.pending_tasks;
  made.registered_at = instance.registered_at;
  made.attributes.set_present();
  for (const auto& [name, value] : instance.attributes) {
    made.attributes.push_back(attribute(name, value));
  }
  made.attachments.set_present();
  made.tags.set_present();
  if (include_tags) made.tags = instance.tags;
  add_gpus(instance, made);
  return made;
}

api::ecs::Task describe_task(const Step& step, const model::Task& task, bool include_tags) {
  api::ecs::Task made;
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), task.definition);
  made.attachments.set_present();
  made.attributes.set_present();
  if (const auto* const instance = model::find_instance(step.state(), task.instance)) {
    const auto zone = instance->attributes.find("ecs.availability-zone");
    if (zone != instance->attributes.end()) made.availability_zone = zone->second;
    const auto architecture = instance->attributes.find("ecs.cpu-architecture");
    if (architecture != instance->attributes.end()) {
      made.attributes.push_back(attribute("ecs.cpu-architecture", architecture->second));
    }
  }
  made.cluster_arn = model::cluster_arn(step.settings.account, task.cluster);
  if (!task.instance.empty()) {
    made.connectivity = api::ecs::Connectivity::Connected;
    made.connectivity_at = task.created_at;
    made.container_instance_arn = task.instance.str();
  }
  if (!task.capacity_provider.empty()) made.capacity_provider_name = task.capacity_provider;
  made.containers.set_present();
  for (const model::TaskContainer& container : task.containers) {
    made.containers.push_back(
        describe_container(step, task, container, definition_of(definition, container.name)));
  }
  if (has_task_network(definition)) add_network_interface(task, made);
  add_size(definition, task, made);
  made.created_at = task.created_at;
  made.desired_status = std::string(model::to_string(task.desired_status));
  made.enable_execute_command = task.enable_execute_command;
  made.execution_stopped_at = task.execution_stopped_at;
  made.group = task.group;
  made.health_status = task_health(task);
  made.last_status = std::string(model::to_string(task.last_status));
  made.launch_type = api::parse_enum<api::ecs::LaunchType>(task.launch_type);
  made.overrides = task.overrides.value_or(api::ecs::TaskOverride{});
  made.overrides->container_overrides.set_present();
  made.pull_started_at = task.pull_started_at;
  made.pull_stopped_at = task.pull_stopped_at;
  made.started_at = task.started_at;
  if (!task.started_by.empty()) made.started_by = task.started_by;
  if (!task.stop_code.empty())
    made.stop_code = api::parse_enum<api::ecs::TaskStopCode>(task.stop_code);
  if (!task.stopped_reason.empty()) made.stopped_reason = task.stopped_reason;
  made.stopped_at = task.stopped_at;
  made.stopping_at = task.stopping_at;
  made.tags.set_present();
  if (include_tags) made.tags = task.tags;
  made.task_arn = task.arn.str();
  made.task_definition_arn = task.definition.str();
  made.version = task.version;
  if (!task.stage.empty()) made.berth_stage = task.stage;
  made.berth_pull_percent = task.pull_percent;
  if (waits_in_queue(task)) made.berth_queue = describe_queue(step, task);
  return made;
}

api::ecs::Failure failure(std::string arn, std::string_view reason, std::string detail) {
  api::ecs::Failure made;
  if (!arn.empty()) made.arn = std::move(arn);
  made.reason = std::string(reason);
  if (!detail.empty()) made.detail = std::move(detail);
  return made;
}

}  // namespace control
