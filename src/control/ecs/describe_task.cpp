// Task and Container as ECS shows them (control/ecs/describe.h).

#include <algorithm>

#include "control/agents/official_agent.h"
#include "control/capacity/queue_explain.h"
#include "control/ecs/describe.h"
#include "control/tasks/task_network.h"
#include "control/tasks/task_plan.h"

namespace control::ecs {
namespace {

// What an agent measured that is gone, or of a container that is, says nothing about now.
void add_container_usage(const Step& step, const model::Task& task,
                         const model::TaskContainer& container, api::ecs::Container& made) {
  const auto* const instance = model::find_instance(step.state(), task.instance);
  const auto usage = task.usage.find(container.name);
  if (usage == task.usage.end() || container.last_status != model::TaskStatus::Running ||
      instance == nullptr || !model::agent_answers(*instance)) {
    return;
  }
  made.berth_usage.emplace();
  made.berth_usage->cpu_units_used = usage->second.cpu_units;
  made.berth_usage->memory_used_mib = usage->second.memory_used_mib;
  made.berth_usage->measured_at = usage->second.at;
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

// What clients look at before ExecuteCommand. Berth's agent needs no process in the container for
// it, so the agent's state is its container's.
void add_managed_agents(const Step& step, const model::Task& task,
                        const model::TaskContainer& container, api::ecs::Container& made) {
  const auto* const instance = model::find_instance(step.state(), task.instance);
  if (!task.enable_execute_command || instance == nullptr) return;
  api::ecs::ManagedAgent agent;
  agent.name = api::ecs::ManagedAgentName::ExecuteCommandAgent;
  if (!is_berth_agent(*instance)) {
    agent.last_status = "STOPPED";
    agent.reason = "ExecuteCommand needs Berth's own agent on the container instance.";
  } else if (container.last_status == model::TaskStatus::Running) {
    agent.last_status = "RUNNING";
    agent.last_started_at = task.started_at;
  } else {
    agent.last_status = container.last_status == model::TaskStatus::Stopped ? "STOPPED" : "PENDING";
  }
  made.managed_agents.push_back(std::move(agent));
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
  add_container_usage(step, task, container, made);
  add_managed_agents(step, task, container, made);
  return made;
}

// The worst of the essential containers that have a health check; UNKNOWN without one.
// Source: ECS API reference, HealthCheck.
api::ecs::HealthStatus task_health(const model::Task& task,
                                   const model::TaskDefinition* definition) {
  bool checked = false;
  bool all_healthy = true;
  for (const model::TaskContainer& container : task.containers) {
    const auto* const defined = definition_of(definition, container.name);
    const bool counts =
        defined != nullptr && defined->health_check && defined->essential.value_or(true);
    if (!counts) continue;
    if (container.health_status == "UNHEALTHY") return api::ecs::HealthStatus::Unhealthy;
    checked = true;
    all_healthy = all_healthy && container.health_status == "HEALTHY";
  }
  return checked && all_healthy ? api::ecs::HealthStatus::Healthy : api::ecs::HealthStatus::Unknown;
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

}  // namespace

api::ecs::Task describe_task(const Step& step, const model::Task& task, bool include_tags) {
  api::ecs::Task made;
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), task.definition);
  made.attachments.set_present();
  made.attributes.set_present();
  if (const auto* const instance = model::find_instance(step.state(), task.instance)) {
    made.connectivity = model::agent_answers(*instance) ? api::ecs::Connectivity::Connected
                                                        : api::ecs::Connectivity::Disconnected;
    const auto zone = instance->attributes.find("ecs.availability-zone");
    if (zone != instance->attributes.end()) made.availability_zone = zone->second;
    const auto architecture = instance->attributes.find("ecs.cpu-architecture");
    if (architecture != instance->attributes.end()) {
      api::ecs::Attribute& shown = made.attributes.emplace_back();
      shown.name = architecture->first;
      shown.value = architecture->second;
    }
  }
  made.cluster_arn = model::cluster_arn(step.settings.account, task.cluster);
  if (!task.instance.empty()) {
    const auto* const instance = model::find_instance(step.state(), task.instance);
    const bool gone = instance != nullptr && !model::agent_answers(*instance);
    made.connectivity_at = gone ? instance->connected_changed_at : task.created_at;
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
  made.health_status = task_health(task, definition);
  made.last_status = std::string(model::to_string(task.last_status));
  made.launch_type = api::parse_enum<api::ecs::LaunchType>(task.launch_type);
  made.overrides = task.overrides.value_or(api::ecs::TaskOverride{});
  made.overrides->container_overrides.set_present();
  made.pull_started_at = task.pull_started_at;
  made.pull_stopped_at = task.pull_stopped_at;
  made.started_at = task.started_at;
  if (!task.started_by.empty()) made.started_by = task.started_by;
  if (!task.stop_code.empty()) {
    made.stop_code = api::parse_enum<api::ecs::TaskStopCode>(task.stop_code);
  }
  if (!task.stopped_reason.empty()) made.stopped_reason = task.stopped_reason;
  made.stopped_at = task.stopped_at;
  made.stopping_at = task.stopping_at;
  if (include_tags) made.tags = task.tags;
  made.tags.set_present();
  made.task_arn = task.arn.str();
  made.task_definition_arn = task.definition.str();
  made.version = task.version;
  if (!task.stage.empty()) made.berth_stage = task.stage;
  made.berth_pull_percent = task.pull_percent;
  if (task.waiting) made.berth_queue = describe_queue(step, task);
  return made;
}

}  // namespace control::ecs
