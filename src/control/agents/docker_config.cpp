#include "control/agents/docker_config.h"

#include <vector>

#include "base/format.h"
#include "base/units.h"

namespace control {
namespace {

constexpr int64_t second_ns = 1'000'000'000;

json::Value texts(const std::vector<std::string>& list) {
  return json::Value::array(list);
}

void set_if(json::Value& object, std::string_view name, const std::optional<bool>& value) {
  if (value) object.set(name, *value);
}
void set_if(json::Value& object, std::string_view name, const std::optional<std::string>& value) {
  if (value) object.set(name, *value);
}
void set_if(json::Value& object, std::string_view name, const std::vector<std::string>& value) {
  if (!value.empty()) object.set(name, texts(value));
}
void set_if(json::Value& object, std::string_view name,
            const std::map<std::string, std::string>& values) {
  if (values.empty()) return;
  json::Value made = json::Value::object();
  for (const auto& [key, value] : values) made.set(key, value);
  object.set(name, std::move(made));
}

json::Value health_check(const api::ecs::HealthCheck& check) {
  return json::Value::object({
      {"Test", texts(check.command)},
      {"Interval", check.interval.value_or(30) * second_ns},
      {"Timeout", check.timeout.value_or(5) * second_ns},
      {"Retries", check.retries.value_or(3)},
      {"StartPeriod", check.start_period.value_or(0) * second_ns},
  });
}

json::Value devices(const api::List<api::ecs::Device>& list) {
  json::Value made = json::Value::array();
  for (const api::ecs::Device& device : list) {
    std::string permissions;
    for (const api::ecs::DeviceCgroupPermission permission : device.permissions) {
      permissions += api::to_string(permission).front();  // "read", "write", "mknod".
    }
    const std::string host_path = device.host_path.value_or("");
    made.push(json::Value::object(
        {{"PathOnHost", host_path},
         {"PathInContainer", device.container_path.value_or(host_path)},
         {"CgroupPermissions", permissions.empty() ? std::string("rwm") : permissions}}));
  }
  return made;
}

json::Value tmpfs(const api::List<api::ecs::Tmpfs>& list) {
  json::Value made = json::Value::object();
  for (const api::ecs::Tmpfs& mount : list) {
    std::string options = base::format("size={}", mount.size.value_or(0) * base::bytes_per_mib);
    for (const std::string& option : mount.mount_options) options += "," + option;
    made.set(mount.container_path.value_or(""), options);
  }
  return made;
}

// Source: ECS API reference, LinuxParameters, maxSwap: the container's memory plus maxSwap is
// Docker's MemorySwap; 0 is no swap. swappiness: without maxSwap it is ignored.
void set_swap(const api::ecs::ContainerDefinition& container,
              const api::ecs::LinuxParameters& parameters, json::Value& host) {
  if (parameters.max_swap && container.memory) {
    host.set("MemorySwap",
             (int64_t{*container.memory} + *parameters.max_swap) * base::bytes_per_mib);
  }
  if (parameters.max_swap && parameters.swappiness) {
    host.set("MemorySwappiness", *parameters.swappiness);
  }
}

void set_linux_parameters(const api::ecs::ContainerDefinition& container, json::Value& host) {
  if (!container.linux_parameters) return;
  const api::ecs::LinuxParameters& parameters = *container.linux_parameters;
  if (parameters.capabilities) {
    set_if(host, "CapAdd", parameters.capabilities->add);
    set_if(host, "CapDrop", parameters.capabilities->drop);
  }
  if (!parameters.devices.empty()) host.set("Devices", devices(parameters.devices));
  set_if(host, "Init", parameters.init_process_enabled);
  if (parameters.shared_memory_size) {
    host.set("ShmSize", *parameters.shared_memory_size * base::bytes_per_mib);
  }
  if (!parameters.tmpfs.empty()) host.set("Tmpfs", tmpfs(parameters.tmpfs));
  set_swap(container, parameters, host);
}

json::Value ulimits(const api::List<api::ecs::Ulimit>& list) {
  json::Value made = json::Value::array();
  for (const api::ecs::Ulimit& limit : list) {
    made.push(json::Value::object(
        {{"Name", limit.name ? std::string(api::to_string(*limit.name)) : std::string()},
         {"Soft", int64_t{limit.soft_limit.value_or(0)}},
         {"Hard", int64_t{limit.hard_limit.value_or(0)}}}));
  }
  return made;
}

json::Value log_config(const api::ecs::LogConfiguration& log) {
  json::Value options = json::Value::object();
  for (const auto& [name, value] : log.options) options.set(name, value);
  return json::Value::object(
      {{"Type", log.log_driver ? std::string(api::to_string(*log.log_driver)) : std::string()},
       {"Config", std::move(options)}});
}

std::string network_mode(const api::ecs::TaskDefinition& task,
                         const api::ecs::ContainerDefinition& container) {
  if (container.disable_networking.value_or(false)) return "none";
  return std::string(api::to_string(task.network_mode.value_or(api::ecs::NetworkMode::Bridge)));
}

}  // namespace

json::Value docker_config(const api::ecs::ContainerDefinition& container) {
  json::Value config = json::Value::object();
  set_if(config, "Hostname", container.hostname);
  set_if(config, "User", container.user);
  set_if(config, "WorkingDir", container.working_directory);
  set_if(config, "Labels", container.docker_labels);
  set_if(config, "OpenStdin", container.interactive);
  set_if(config, "Tty", container.pseudo_terminal);
  if (container.health_check) config.set("Healthcheck", health_check(*container.health_check));
  return config;
}

json::Value docker_host_config(const api::ecs::TaskDefinition& task,
                               const api::ecs::ContainerDefinition& container,
                               int64_t memory_reservation_mib) {
  json::Value host = json::Value::object();
  // The agent itself joins the containers of such a task in one network.
  const bool task_network = task.network_mode == api::ecs::NetworkMode::Awsvpc;
  if (!task_network) host.set("NetworkMode", network_mode(task, container));
  set_if(host, "ReadonlyRootfs", container.readonly_root_filesystem);
  set_if(host, "Dns", container.dns_servers);
  set_if(host, "DnsSearch", container.dns_search_domains);
  set_if(host, "SecurityOpt", container.docker_security_options);
  std::vector<std::string> hosts;
  for (const api::ecs::HostEntry& entry : container.extra_hosts) {
    hosts.push_back(entry.hostname.value_or("") + ":" + entry.ip_address.value_or(""));
  }
  set_if(host, "ExtraHosts", hosts);
  std::map<std::string, std::string> sysctls;
  for (const api::ecs::SystemControl& control : container.system_controls) {
    sysctls[control.namespace_.value_or("")] = control.value.value_or("");
  }
  set_if(host, "Sysctls", sysctls);
  if (!container.ulimits.empty()) host.set("Ulimits", ulimits(container.ulimits));
  if (container.log_configuration) {
    host.set("LogConfig", log_config(*container.log_configuration));
  }
  if (memory_reservation_mib > 0) {
    host.set("MemoryReservation", memory_reservation_mib * base::bytes_per_mib);
  }
  if (task.pid_mode == api::ecs::PidMode::Host) host.set("PidMode", "host");
  if (task.ipc_mode == api::ecs::IpcMode::Host) host.set("IpcMode", "host");
  if (task.ipc_mode == api::ecs::IpcMode::None) host.set("IpcMode", "none");
  set_linux_parameters(container, host);
  return host;
}

}  // namespace control
