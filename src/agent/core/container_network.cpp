#include "agent/core/container_network.h"

#include <algorithm>
#include <utility>

#include "agent/core/container_body.h"
#include "base/format.h"
#include "model/port_range.h"

namespace agent::core {
namespace {

std::optional<PortRange> port_range(const acs::PortMapping& mapping) {
  const bool udp = mapping.protocol == "udp";
  if (mapping.container_port_range.empty()) {
    return PortRange{mapping.container_port, mapping.container_port, udp};
  }
  const auto range = model::parse_port_range(mapping.container_port_range);
  if (!range) return std::nullopt;
  return PortRange{range->first, range->last, udp};
}

void append(json::Value& object, std::string_view name, const json::Value& item) {
  json::Value list = object[name].is_array() ? object[name] : json::Value::array();
  for (const json::Value& known : list.items()) {
    if (known == item) return;
  }
  list.push(item);
  object.set(name, std::move(list));
}

// The name service is the network's, and so its holder's.
void take_name_service(const acs::Task& task, json::Value& host) {
  for (const acs::Container& container : task.containers) {
    if (!container.docker_config) continue;
    const auto given = parse_docker_part(container.docker_config->host_config, "hostConfig");
    if (!given) continue;  // Told when that container is made.
    for (const std::string_view member : {"Dns", "DnsSearch"}) {
      for (const json::Value& server : (*given)[member].items()) append(host, member, server);
    }
  }
}

void hold_namespaces(const acs::Task& task, json::Value& body, json::Value& host) {
  host.set("NetworkMode", has_task_network(task) ? task_network : "none");
  if (task.ipc_mode == "task") host.set("IpcMode", "shareable");
  if (!has_task_network(task)) return;
  take_name_service(task, host);
  if (task.elastic_network_interfaces.empty()) return;
  const std::string& mac = task.elastic_network_interfaces.front().mac_address;
  if (!mac.empty()) body.set("MacAddress", mac);
}

api::ecs::NetworkBinding binding_of(const std::string& ip, int32_t container_port,
                                    int32_t host_port, bool udp) {
  api::ecs::NetworkBinding binding;
  binding.bind_ip = ip;
  binding.container_port = container_port;
  binding.host_port = host_port;
  binding.protocol = udp ? api::ecs::TransportProtocol::Udp : api::ecs::TransportProtocol::Tcp;
  return binding;
}

// One binding for a whole range.
api::ecs::NetworkBinding range_binding(const std::string& ip, const PortRange& range,
                                       int32_t first_host_port) {
  api::ecs::NetworkBinding binding = binding_of(ip, 0, 0, range.udp);
  binding.container_port.reset();
  binding.host_port.reset();
  binding.container_port_range = base::format("{}-{}", range.first, range.last);
  binding.host_port_range =
      base::format("{}-{}", first_host_port, first_host_port + range.last - range.first);
  return binding;
}

// Takes the bindings of the range out of `found` when the host has them side by side.
std::optional<api::ecs::NetworkBinding> take_range(const PortRange& range,
                                                   std::vector<Binding>& found) {
  const auto is_of = [&](const Binding& binding) {
    return binding.udp == range.udp && binding.container_port >= range.first &&
           binding.container_port <= range.last;
  };
  std::vector<Binding> of_range;
  std::ranges::copy_if(found, std::back_inserter(of_range), is_of);
  std::ranges::sort(of_range, {}, &Binding::container_port);
  if (of_range.size() != static_cast<size_t>(range.last - range.first) + 1) return std::nullopt;
  for (size_t i = 0; i < of_range.size(); ++i) {
    if (of_range[i].host_port != of_range[0].host_port + i) return std::nullopt;
    if (of_range[i].host_ip != of_range[0].host_ip) return std::nullopt;
  }
  std::erase_if(found, is_of);
  return range_binding(of_range[0].host_ip, range, of_range[0].host_port);
}

}  // namespace

std::string network_mode(const acs::Task& task) {
  return task.network_mode.empty() ? "bridge" : task.network_mode;
}

bool has_task_network(const acs::Task& task) {
  return task.network_mode == "awsvpc";
}

bool needs_pause(const acs::Task& task) {
  return has_task_network(task) || task.pid_mode == "task" || task.ipc_mode == "task";
}

acs::Container make_pause() {
  acs::Container pause;
  pause.name = pause_container;
  pause.image = pause_image;
  pause.essential = true;
  return pause;
}

bool is_pause(const acs::Container& container) {
  return container.name == pause_container;
}

std::optional<size_t> pause_index(const acs::Task& task) {
  for (size_t i = 0; i < task.containers.size(); ++i) {
    if (is_pause(task.containers[i])) return i;
  }
  return std::nullopt;
}

void join_namespaces(const Task& task, size_t index, json::Value& body, json::Value& host) {
  const acs::Task& payload = task.payload;
  const std::optional<size_t> pause = pause_index(payload);
  if (!pause) return;
  if (index == *pause) return hold_namespaces(payload, body, host);
  const std::string holder = "container:" + task.record.containers[*pause].docker_name;
  if (payload.pid_mode == "task") host.set("PidMode", holder);
  if (payload.ipc_mode == "task") host.set("IpcMode", holder);
  if (!has_task_network(payload)) return;
  host.set("NetworkMode", holder);
  // What belongs to the network is its holder's; Docker refuses it of those who join.
  for (const std::string_view member : {"Dns", "DnsSearch", "ExtraHosts", "PortBindings"}) {
    if (host.find(member) != nullptr) host.set(member, nullptr);
  }
  for (const std::string_view member : {"Hostname", "ExposedPorts", "MacAddress"}) {
    if (body.find(member) != nullptr) body.set(member, nullptr);
  }
}

base::Result<std::vector<PortRange>> add_ports(const acs::Task& task,
                                               const acs::Container& container, json::Value& body,
                                               json::Value& host) {
  std::vector<PortRange> ranges;
  if (container.port_mappings.empty() || network_mode(task) != "bridge") return ranges;
  json::Value exposed = json::Value::object();
  json::Value bindings = json::Value::object();
  for (const acs::PortMapping& mapping : container.port_mappings) {
    const std::optional<PortRange> range = port_range(mapping);
    if (!range) {
      return base::fail("DockerClientConfigError",
                        base::format("The containerPortRange '{}' of container '{}' is no range of "
                                     "ports such as '8080-8090'.",
                                     mapping.container_port_range, container.name));
    }
    if (range->last > range->first) ranges.push_back(*range);
    for (int32_t port = range->first; port <= range->last; ++port) {
      const std::string key = base::format("{}/{}", port, range->udp ? "udp" : "tcp");
      const bool fixed = mapping.host_port != 0 && mapping.container_port_range.empty();
      json::Value binding = json::Value::object(
          {{"HostIp", ""}, {"HostPort", fixed ? base::format("{}", mapping.host_port) : ""}});
      exposed.set(key, json::Value::object());
      json::Value list = bindings[key].is_array() ? bindings[key] : json::Value::array();
      list.push(std::move(binding));
      bindings.set(key, std::move(list));
    }
  }
  body.set("ExposedPorts", std::move(exposed));
  host.set("PortBindings", std::move(bindings));
  return ranges;
}

api::List<api::ecs::NetworkBinding> network_bindings(const acs::Task& task,
                                                     const acs::Container& container,
                                                     const std::vector<Binding>& found) {
  api::List<api::ecs::NetworkBinding> bindings;
  if (network_mode(task) == "host") {
    for (const acs::PortMapping& mapping : container.port_mappings) {
      const PortRange range = port_range(mapping).value_or(PortRange{1, 0, false});
      for (int32_t port = range.first; port <= range.last; ++port) {
        bindings.push_back(binding_of("0.0.0.0", port, port, range.udp));
      }
    }
    return bindings;
  }
  std::vector<Binding> left;
  // IPv6 is not reported.
  std::ranges::copy_if(found, std::back_inserter(left), [](const Binding& binding) {
    return binding.host_ip.find(':') == std::string::npos;
  });
  for (const acs::PortMapping& mapping : container.port_mappings) {
    if (mapping.container_port_range.empty()) continue;
    const std::optional<PortRange> range = port_range(mapping);
    if (!range) continue;
    if (auto binding = take_range(*range, left)) bindings.push_back(std::move(*binding));
  }
  for (const Binding& binding : left) {
    bindings.push_back(
        binding_of(binding.host_ip, binding.container_port, binding.host_port, binding.udp));
  }
  return bindings;
}

bool has_bridge_ports(const acs::Task& task, const acs::Container& container) {
  return network_mode(task) == "bridge" && !container.port_mappings.empty();
}

void refresh_task_network(Task& task) {
  const std::optional<size_t> pause = pause_index(task.payload);
  if (!pause || !has_task_network(task.payload)) return;
  const std::vector<std::string>& addresses = task.work[*pause].ip_addresses;
  if (addresses.empty()) return;
  for (size_t i = 0; i < task.record.containers.size(); ++i) {
    if (i == *pause) continue;
    api::List<api::ecs::NetworkBinding> bindings;
    for (const acs::PortMapping& mapping : task.payload.containers[i].port_mappings) {
      const std::optional<PortRange> range = port_range(mapping);
      if (!range) continue;
      bindings.push_back(range->first == range->last
                             ? binding_of(addresses[0], range->first, range->first, range->udp)
                             : range_binding(addresses[0], *range, range->first));
    }
    if (bindings.empty()) bindings.emplace_back().bind_ip = addresses[0];
    task.record.containers[i].network_bindings = std::move(bindings);
  }
}

}  // namespace agent::core
