#include "control/tasks/task_needs.h"

#include <set>
#include <string_view>

#include "model/task_bounds.h"

namespace control {
namespace {

using MachineNeeds = std::set<std::string>;

void add_host_path(std::string_view path, MachineNeeds& needs) {
  for (std::string& need : model::needs_of_host_path(path, model::sockets_of_runtimes())) {
    needs.insert(std::move(need));
  }
}

void add_files(const api::List<api::ecs::EnvironmentFile>& files, MachineNeeds& needs) {
  constexpr std::string_view of_machine = "file://";
  for (const api::ecs::EnvironmentFile& file : files) {
    const std::string& value = file.value.value_or("");
    if (value.starts_with(of_machine)) add_host_path(value.substr(of_machine.size()), needs);
  }
}

void add_volume(const api::ecs::Volume& volume, MachineNeeds& needs) {
  if (volume.host && !volume.host->source_path.value_or("").empty()) {
    add_host_path(*volume.host->source_path, needs);
  }
  if (!volume.docker_volume_configuration) return;
  const api::ecs::DockerVolumeConfiguration& docker = *volume.docker_volume_configuration;
  const std::string& driver = docker.driver.value_or("");
  const bool own = docker.scope != api::ecs::Scope::Shared && docker.driver_opts.empty() &&
                   (driver.empty() || driver == "local");
  if (!own) needs.emplace(model::needs::docker_volumes);
}

void add_needs_of_container(const api::ecs::ContainerDefinition& container, MachineNeeds& needs) {
  if (container.privileged.value_or(false)) needs.emplace(model::needs::privileged);
  add_files(container.environment_files, needs);
  for (const std::string& option : container.docker_security_options) {
    if (model::needs_security_option(option)) needs.emplace(model::needs::security_options);
  }
  if (!container.linux_parameters) return;
  if (!container.linux_parameters->devices.empty()) needs.emplace(model::needs::devices);
  if (!container.linux_parameters->capabilities) return;
  for (const std::string& capability : container.linux_parameters->capabilities->add) {
    needs.insert(model::need_of_capability(capability));
  }
}

}  // namespace

std::vector<std::string> needs_of_task(const api::ecs::TaskDefinition& definition,
                                       const std::optional<api::ecs::TaskOverride>& overrides) {
  MachineNeeds needs;
  if (definition.network_mode == api::ecs::NetworkMode::Host) {
    needs.emplace(model::needs::host_network);
  }
  if (definition.pid_mode == api::ecs::PidMode::Host) needs.emplace(model::needs::host_pid);
  if (definition.ipc_mode == api::ecs::IpcMode::Host) needs.emplace(model::needs::host_ipc);
  for (const api::ecs::Volume& volume : definition.volumes) add_volume(volume, needs);
  for (const auto& container : definition.container_definitions) {
    add_needs_of_container(container, needs);
  }
  if (overrides) {
    for (const auto& one : overrides->container_overrides) add_files(one.environment_files, needs);
  }
  return {needs.begin(), needs.end()};
}

}  // namespace control
