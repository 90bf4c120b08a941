#include "control/agents/payload.h"

#include <algorithm>

#include "base/format.h"
#include "control/agents/docker_config.h"
#include "control/agents/ecr_image.h"
#include "control/agents/official_agent.h"
#include "control/agents/role_credentials.h"
#include "control/tasks/secret_references.h"
#include "control/tasks/task_network.h"
#include "control/tasks/task_plan.h"

namespace control {
namespace {

// The definition with the call's overrides written over it.
api::ecs::ContainerDefinition merged(const model::Task& task,
                                     api::ecs::ContainerDefinition container) {
  const auto* const by_call = find_override(task.overrides, container.name.value_or(""));
  if (by_call == nullptr) return container;
  if (!by_call->command.empty()) container.command = by_call->command;
  if (by_call->cpu) container.cpu = by_call->cpu;
  if (by_call->memory) container.memory = by_call->memory;
  if (by_call->memory_reservation) container.memory_reservation = by_call->memory_reservation;
  if (!by_call->environment_files.empty()) {
    container.environment_files = by_call->environment_files;
  }
  for (const api::ecs::KeyValuePair& pair : by_call->environment) {
    container.environment.push_back(pair);  // The later of a name wins.
  }
  return container;
}

acs::Container make_container(const model::Task& task, const model::TaskDefinition& definition,
                              const api::ecs::ContainerDefinition& container,
                              const std::string& region) {
  acs::Container made;
  made.name = container.name.value_or("");
  made.image = container.image.value_or("");
  made.command = container.command;
  made.entry_point = container.entry_point;
  for (const api::ecs::KeyValuePair& pair : container.environment) {
    made.environment[pair.name.value_or("")] = pair.value.value_or("");
  }
  for (const auto& [name, value] : task.gang_environment) made.environment.emplace(name, value);
  for (const api::ecs::EnvironmentFile& file : container.environment_files) {
    made.environment_files.push_back({"s3", file.value.value_or("")});
  }
  made.cpu = container.cpu.value_or(0);
  made.memory = container.memory.value_or(0);
  made.essential = container.essential.value_or(true);
  made.links = container.links;
  for (const api::ecs::MountPoint& mount : container.mount_points) {
    made.mount_points.push_back({mount.source_volume.value_or(""),
                                 mount.container_path.value_or(""),
                                 mount.read_only.value_or(false)});
  }
  for (const api::ecs::VolumeFrom& from : container.volumes_from) {
    made.volumes_from.push_back(
        {from.source_container.value_or(""), from.read_only.value_or(false)});
  }
  for (const api::ecs::PortMapping& mapping : container.port_mappings) {
    acs::PortMapping port;
    port.container_port = mapping.container_port.value_or(0);
    port.host_port = mapping.host_port.value_or(0);
    port.container_port_range = mapping.container_port_range.value_or("");
    port.protocol = api::to_string(mapping.protocol.value_or(api::ecs::TransportProtocol::Tcp));
    made.port_mappings.push_back(std::move(port));
  }
  made.secrets = secrets_of(container, region);
  if (container.repository_credentials) {
    const std::string secret = container.repository_credentials->credentials_parameter.value_or("");
    made.registry_authentication = acs::RegistryAuthentication{
        .type = "asm", .ecr_auth_data = {}, .asm_auth_data = acs::AsmAuthData{secret, region}};
  } else if (const auto registry = ecr_registry_of(made.image)) {
    made.registry_authentication =
        acs::RegistryAuthentication{.type = "ecr",
                                    .ecr_auth_data = acs::EcrAuthData{.region = registry->region,
                                                                      .registry_id = registry->id,
                                                                      .endpoint_override = {}},
                                    .asm_auth_data = {}};
  }
  made.privileged = container.privileged.value_or(false);
  for (const api::ecs::ContainerDependency& dependency : container.depends_on) {
    made.depends_on.push_back(
        {dependency.container_name.value_or(""),
         dependency.condition ? std::string(api::to_string(*dependency.condition)) : "START"});
  }
  if (container.health_check) made.health_check_type = "docker";
  made.start_timeout = container.start_timeout;
  made.stop_timeout = container.stop_timeout;
  if (container.restart_policy) {
    made.restart_policy =
        acs::RestartPolicy{container.restart_policy->enabled.value_or(false),
                           container.restart_policy->ignored_exit_codes,
                           container.restart_policy->restart_attempt_period.value_or(300)};
  }
  made.docker_config =
      acs::DockerConfig{json::print(docker_config(container)),
                        json::print(docker_host_config(definition.definition, container,
                                                       container.memory_reservation.value_or(0))),
                        "1.24"};
  const auto same_name = [&](const model::TaskContainer& one) { return one.name == made.name; };
  const auto known = std::ranges::find_if(task.containers, same_name);
  if (known != task.containers.end()) made.container_arn = known->arn;
  return made;
}

// One association a GPU, naming all the containers that share it.
void add_gpu_associations(const model::Task& task, acs::Task& made) {
  for (const model::GpuAssignment& held : task.held.gpus) {
    const auto same = std::ranges::find(made.associations, held.gpu, &acs::Association::name);
    if (same == made.associations.end()) {
      made.associations.push_back({"gpu",
                                   held.gpu,
                                   {held.container},
                                   acs::AssociationContent{.encoding = "base64", .value = ""}});
    } else {
      same->containers.push_back(held.container);
    }
    if (!held.shared) continue;
    const auto container =
        std::ranges::find(made.containers, held.container, &acs::Container::name);
    if (container == made.containers.end()) continue;
    acs::NvidiaMps mps{.memory = held.memory_mib, .max_compute_percent = std::nullopt};
    if (held.max_compute_percent > 0) mps.max_compute_percent = held.max_compute_percent;
    container->resource_requirements.push_back({"GPU", "", acs::SharingStrategy{mps}});
  }
}

acs::Volume make_volume(const api::ecs::Volume& volume) {
  acs::Volume made;
  made.name = volume.name.value_or("");
  if (!volume.docker_volume_configuration) {
    made.type = "host";
    made.host =
        acs::HostVolume{volume.host ? volume.host->source_path.value_or("") : std::string()};
    return made;
  }
  const api::ecs::DockerVolumeConfiguration& docker = *volume.docker_volume_configuration;
  made.type = "docker";
  made.docker_volume_configuration = acs::DockerVolumeConfiguration{
      docker.autoprovision.value_or(false), docker.driver.value_or("local"), docker.driver_opts,
      docker.labels, docker.scope == api::ecs::Scope::Shared ? "shared" : "task"};
  return made;
}

void add_task_limits(const model::Task& task, const model::TaskDefinition& definition,
                     acs::Task& made) {
  const auto& overrides = task.overrides;
  const auto cpu = overrides && overrides->cpu ? overrides->cpu : definition.definition.cpu;
  const auto memory =
      overrides && overrides->memory ? overrides->memory : definition.definition.memory;
  if (cpu && !cpu->empty()) made.cpu = static_cast<double>(task.held.cpu_units) / 1024.0;
  if (memory && !memory->empty()) made.memory = static_cast<int32_t>(task.held.memory_mib);
}

}  // namespace

acs::Task make_payload(const Step& step, const model::Task& task, const std::string& through) {
  acs::Task made;
  made.arn = task.arn.str();
  made.task_cluster_arn = model::cluster_arn(step.settings.account, task.cluster);
  made.desired_status = task.desired_status == model::TaskStatus::Stopped ? "STOPPED" : "RUNNING";
  made.launch_type = task.launch_type;
  made.group = task.group;
  made.service_name = model::service_of(task);
  made.berth_stop_reason = task.stopped_reason;
  const model::TaskDefinition* const definition =
      model::find_task_definition(step.state(), task.definition);
  CHECK(definition != nullptr);
  made.family = definition->family;
  made.version = std::to_string(definition->revision);
  const auto* const instance = model::find_instance(step.state(), task.instance);
  const bool official = instance != nullptr && !is_berth_agent(*instance);
  if (task.desired_status == model::TaskStatus::Stopped) {
    // So that an agent that never saw the task can prove them empty. An official one looks for
    // their containers in this payload, which has none, and leaves the one that runs alone.
    if (!official) add_gpu_associations(task, made);
    return made;
  }
  made.task_definition_account_id = step.settings.account.id;
  made.network_mode =
      api::to_string(definition->definition.network_mode.value_or(api::ecs::NetworkMode::Bridge));
  if (definition->definition.pid_mode) {
    made.pid_mode = api::to_string(*definition->definition.pid_mode);
  }
  if (definition->definition.ipc_mode) {
    made.ipc_mode = api::to_string(*definition->definition.ipc_mode);
  }
  if (has_task_network(definition)) {
    made.elastic_network_interfaces.push_back(network_interface(task));
  }
  add_task_limits(task, *definition, made);
  for (const auto& container : definition->definition.container_definitions) {
    made.containers.push_back(
        make_container(task, *definition, merged(task, container), step.settings.account.region));
  }
  for (const api::ecs::Volume& volume : definition->definition.volumes) {
    made.volumes.push_back(make_volume(volume));
  }
  add_gpu_associations(task, made);
  made.berth_cpuset = task.held.cpuset;
  made.role_credentials = role_credentials(step, task, RoleType::TaskApplication, through);
  made.execution_role_credentials = role_credentials(step, task, RoleType::TaskExecution, through);
  if (official) adapt_to_official_agent(step, made);
  return made;
}

}  // namespace control
