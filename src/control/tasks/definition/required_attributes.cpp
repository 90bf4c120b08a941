#include "control/tasks/definition/required_attributes.h"

#include <algorithm>
#include <map>
#include <string>

#include "control/tasks/definition/rules.h"
#include "control/tasks/secret_references.h"
#include "model/capabilities.h"

namespace control {
namespace {

using api::ecs::LogDriver;

// Collects names, each once and in order.
class Needs {
 public:
  void add(std::string_view name, std::string_view value = {}) {
    values_[std::string(name)] = value;
  }
  void add(std::string_view prefix, std::string_view name, bool wanted) {
    if (wanted) add(std::string(prefix).append(name));
  }
  void docker_api(std::string_view version, bool wanted = true) {
    add(model::capability_docker_api_prefix, version, wanted);
  }

  api::List<api::ecs::Attribute> list() const {
    api::List<api::ecs::Attribute> attributes;
    attributes.set_present();
    for (const auto& [name, value] : values_) {
      api::ecs::Attribute& made = attributes.emplace_back();
      made.name = name;
      if (!value.empty()) made.value = value;
    }
    return attributes;
  }

 private:
  std::map<std::string, std::string> values_;
};

std::string_view docker_api_of(LogDriver driver) {
  switch (driver) {
    case LogDriver::JsonFile:
    case LogDriver::Syslog:
      return "1.18";
    case LogDriver::Awslogs:
    case LogDriver::Journald:
      return "1.19";
    case LogDriver::Fluentd:
    case LogDriver::Gelf:
      return "1.20";
    case LogDriver::Splunk:
      return "1.22";
    case LogDriver::Awsfirelens:
      return "1.29";
  }
  return "1.18";
}

void add_log_driver(const Container& container, Needs& needs) {
  if (!container.log_configuration || !container.log_configuration->log_driver) return;
  const LogDriver driver = *container.log_configuration->log_driver;
  needs.add(model::capability_log_driver_prefix, api::to_string(driver), true);
  needs.docker_api(docker_api_of(driver));
}

void add_health_check(const Container& container, Needs& needs) {
  if (!container.health_check) return;
  needs.add(model::capability_health_check);
  needs.docker_api("1.24");
  needs.docker_api("1.29", container.health_check->start_period.has_value());
}

void add_linux_parameters(const Container& container, Needs& needs) {
  if (!container.linux_parameters) return;
  const api::ecs::LinuxParameters& parameters = *container.linux_parameters;
  needs.docker_api("1.25", parameters.init_process_enabled.value_or(false));
  needs.docker_api("1.22", parameters.shared_memory_size.has_value() || !parameters.tmpfs.empty());
  needs.docker_api("1.20", parameters.swappiness.has_value());
}

void add_environment_files(const Container& container, Needs& needs) {
  for (const api::ecs::EnvironmentFile& file : container.environment_files) {
    needs.add(model::capability_environment_files);
    // A file of the machine is an idea of Berth's.
    if (is_host_file(file.value.value_or(""))) needs.add(model::attribute_berth_agent);
  }
}

void add_secrets(const Container& container, Needs& needs) {
  const auto add = [&](const api::List<api::ecs::Secret>& secrets, std::string_view ssm,
                       std::string_view secrets_manager) {
    for (const api::ecs::Secret& secret : secrets) {
      const auto reference = parse_secret_reference(secret.value_from.value_or(""));
      const bool of_ssm = !reference || reference->provider == SecretProvider::Ssm;
      needs.add(of_ssm ? ssm : secrets_manager);
    }
  };
  add(container.secrets, model::capability_ssm_secrets, model::capability_asm_secrets);
  if (!container.log_configuration) return;
  add(container.log_configuration->secret_options, model::capability_ssm_log_secrets,
      model::capability_asm_log_secrets);
}

void add_security_options(const Container& container, Needs& needs) {
  for (const std::string& option : container.docker_security_options) {
    if (option.starts_with("apparmor")) needs.add(model::capability_apparmor);
    if (option.starts_with("label")) needs.add(model::capability_selinux);
  }
}

void add_container(const Container& container, Needs& needs) {
  if (container.privileged.value_or(false)) needs.add(model::capability_privileged);
  if (!container.depends_on.empty() || container.start_timeout || container.stop_timeout) {
    needs.add(model::capability_ordering);
  }
  if (container.restart_policy && container.restart_policy->enabled.value_or(false)) {
    needs.add(model::capability_restart_policy);
  }
  needs.docker_api("1.17", container.readonly_root_filesystem.value_or(false));
  needs.docker_api("1.18", !container.docker_labels.empty() || !container.ulimits.empty());
  needs.docker_api("1.21", container.memory_reservation.value_or(0) > 0);
  needs.docker_api("1.24", !container.system_controls.empty());
  needs.add(model::capability_port_range, "",
            std::ranges::any_of(container.port_mappings, [](const api::ecs::PortMapping& mapping) {
              return mapping.container_port_range.has_value();
            }));
  needs.add(model::capability_private_registry, "", container.repository_credentials.has_value());
  add_environment_files(container, needs);
  add_secrets(container, needs);
  add_log_driver(container, needs);
  add_health_check(container, needs);
  add_linux_parameters(container, needs);
  add_security_options(container, needs);
}

std::string_view architecture_name(api::ecs::CPUArchitecture architecture) {
  return architecture == api::ecs::CPUArchitecture::Arm64 ? "arm64" : "x86_64";
}

}  // namespace

api::List<api::ecs::Attribute> required_attributes(const api::ecs::TaskDefinition& definition,
                                                   const std::vector<model::GpuRequest>& gpus) {
  Needs needs;
  for (const Container& container : definition.container_definitions) {
    add_container(container, needs);
  }
  for (const api::ecs::Volume& volume : definition.volumes) {
    if (!volume.docker_volume_configuration) continue;
    const std::string driver = volume.docker_volume_configuration->driver.value_or("local");
    needs.add(model::capability_volume_driver_prefix, driver.empty() ? "local" : driver, true);
    needs.docker_api("1.21");
  }
  if (!definition.task_role_arn.value_or("").empty()) needs.add(model::capability_task_role);
  if (definition.pid_mode || definition.ipc_mode) needs.add(model::capability_pid_ipc);
  if (definition.network_mode == api::ecs::NetworkMode::Awsvpc) {
    needs.add(model::capability_task_network);
    // Another agent would wait for an interface of AWS that nobody attaches.
    needs.add(model::attribute_berth_agent);
  }
  if (definition.runtime_platform && definition.runtime_platform->cpu_architecture) {
    needs.add(model::attribute_cpu_architecture,
              architecture_name(*definition.runtime_platform->cpu_architecture));
  }
  if (std::ranges::any_of(gpus, shares_gpu)) needs.add(model::capability_gpu_sharing);
  return needs.list();
}

}  // namespace control
