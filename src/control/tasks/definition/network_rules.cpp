#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "control/tasks/definition/rules.h"
#include "model/port_range.h"

namespace control {
namespace {

using api::ecs::NetworkMode;

NetworkMode mode_of(const Registration& request) {
  return request.network_mode.value_or(NetworkMode::Bridge);
}

std::unexpected<base::Error> invalid_port(std::string_view member, const Container& container,
                                          std::string_view why) {
  return client_error(base::format("Invalid '{}' setting for container '{}'. {}", member,
                                   container.name.value_or(""), why));
}

// Source: ECS API reference, PortMapping, containerPortRange.
base::Result<model::PortRange> check_port_range(NetworkMode mode, const Container& container,
                                                const api::ecs::PortMapping& mapping) {
  const std::string& text = *mapping.container_port_range;
  const auto range = model::parse_port_range(text);
  if (!range) {
    return invalid_port("containerPortRange", container,
                        base::format("\"{}\" is no range of ports: write it as 8080-8090, with "
                                     "ports between 1 and 65535.",
                                     text.substr(0, 20)));
  }
  if (mapping.container_port || mapping.host_port.value_or(0) != 0) {
    return invalid_port("containerPortRange", container,
                        "It stands instead of containerPort and hostPort: leave these out.");
  }
  if (mode != NetworkMode::Bridge && mode != NetworkMode::Awsvpc) {
    return invalid_port("containerPortRange", container,
                        "It needs the network mode bridge or awsvpc.");
  }
  return *range;
}

// No two of a container's ranges share a port. Source: as above.
base::Result<void> check_port_ranges(NetworkMode mode, const Container& container) {
  std::vector<std::pair<model::PortRange, bool>> ranges;
  for (const api::ecs::PortMapping& mapping : container.port_mappings) {
    if (!mapping.container_port_range) continue;
    const model::PortRange range = TRY(check_port_range(mode, container, mapping));
    const bool udp = mapping.protocol == api::ecs::TransportProtocol::Udp;
    for (const auto& [other, other_udp] : ranges) {
      if (udp != other_udp || range.first > other.last || other.first > range.last) continue;
      return invalid_port("containerPortRange", container,
                          base::format("The ranges {}-{} and {}-{} overlap.", other.first,
                                       other.last, range.first, range.last));
    }
    ranges.emplace_back(range, udp);
  }
  if (ranges.size() > 100) {
    return invalid_port("containerPortRange", container,
                        "A container can have at most 100 ranges of ports.");
  }
  return {};
}

// Source: ECS API reference, PortMapping.
base::Result<void> check_ports_of(NetworkMode mode, const Container& container,
                                  const api::ecs::PortMapping& mapping) {
  if (mapping.container_port_range) return {};  // check_port_ranges()
  const int32_t container_port = mapping.container_port.value_or(0);
  if (container_port < 1 || container_port > 65535) {
    return invalid_port(
        "containerPort", container,
        base::format("It is {}; a port is between 1 and 65535.",
                     mapping.container_port ? std::to_string(container_port) : "not given"));
  }
  const int32_t host_port = mapping.host_port.value_or(0);
  if (host_port < 0 || host_port > 65535) {
    return invalid_port(
        "hostPort", container,
        base::format("It is {}; it must be between 1 and 65535, or 0 for a port that the agent "
                     "chooses.",
                     host_port));
  }
  const bool own_ports = mode == NetworkMode::Host || mode == NetworkMode::Awsvpc;
  if (own_ports && mapping.host_port && host_port != container_port) {
    return client_error(base::format(
        "When networkMode={}, the host ports and container ports in port mappings must match. "
        "Container '{}' maps container port {} to host port {}: leave hostPort out.",
        api::to_string(mode), container.name.value_or(""), container_port, host_port));
  }
  return {};
}

// Source: ECS API reference, PortMapping, name.
base::Result<void> check_port_name(const Container& container, const std::string& name) {
  const bool valid = !name.empty() && name.size() <= 64 && name.front() != '-' &&
                     std::ranges::all_of(name, [](char c) {
                       return base::is_plain(c, "_-") && c == base::lower(c);
                     });
  if (valid) return {};
  return invalid_setting(
      container, base::format("The port mapping name \"{}\" must be at most 64 lower-case letters, "
                              "digits, underscores and hyphens, and not begin with a hyphen.",
                              name.substr(0, 64)));
}

base::Result<void> check_port_mappings(const Registration& request) {
  const NetworkMode mode = mode_of(request);
  std::set<std::pair<int32_t, bool>> host_ports;  // Port, whether UDP.
  std::set<std::string> names;
  for (const Container& container : request.container_definitions) {
    if (container.port_mappings.empty()) continue;
    if (mode == NetworkMode::None || container.disable_networking.value_or(false)) {
      return invalid_setting(container, mode == NetworkMode::None
                                            ? "portMappings cannot be given when networkMode=none."
                                            : "portMappings cannot be given with "
                                              "disableNetworking.");
    }
    TRY_VOID(check_port_ranges(mode, container));
    for (const api::ecs::PortMapping& mapping : container.port_mappings) {
      TRY_VOID(check_ports_of(mode, container, mapping));
      const bool udp = mapping.protocol == api::ecs::TransportProtocol::Udp;
      const bool own_ports = mode == NetworkMode::Host || mode == NetworkMode::Awsvpc;
      const int32_t host_port =
          mapping.host_port.value_or(own_ports ? mapping.container_port.value_or(0) : 0);
      if (host_port != 0 && !host_ports.insert({host_port, udp}).second) {
        return invalid_port(
            "hostPort", container,
            base::format("The host port {}/{} is mapped twice in this task definition.", host_port,
                         udp ? "udp" : "tcp"));
      }
      if (!mapping.name) continue;
      TRY_VOID(check_port_name(container, *mapping.name));
      if (!names.insert(*mapping.name).second) {
        return invalid_setting(
            container, base::format("Two port mappings have the name \"{}\".", *mapping.name));
      }
    }
  }
  return {};
}

// Source: ECS API reference, ContainerDefinition, links.
base::Result<void> check_links(const Registration& request, const Container& container) {
  if (container.links.empty()) return {};
  if (mode_of(request) != NetworkMode::Bridge || container.disable_networking.value_or(false)) {
    return invalid_setting(container, "Links are only supported when networkMode=bridge.");
  }
  for (const std::string& link : container.links) {
    const std::string_view target = linked_container(link);
    const bool has_alias = target.size() < link.size();
    if (!is_plain_name(target) ||
        (has_alias && !is_plain_name(std::string_view(link).substr(target.size() + 1)))) {
      return invalid_setting(
          container,
          base::format("The link \"{}\" must be a container's name, or name:alias in letters, "
                       "digits, hyphens and underscores.",
                       link.substr(0, 255)));
    }
    const Container* const found = find_container(request, target);
    if (found == nullptr || found == &container) {
      return invalid_setting(container,
                             base::format("The link \"{}\" names {}.", link,
                                          found == nullptr ? "a container that the task does not "
                                                             "have"
                                                           : "the container itself"));
    }
    if (found->disable_networking.value_or(false)) {
      return invalid_setting(
          container,
          base::format("The link \"{}\" leads to a container with disableNetworking.", link));
    }
  }
  return {};
}

// The containers of a task share one network there, its name and its hosts file included.
// Source: ECS API reference, ContainerDefinition, hostname, extraHosts and disableNetworking.
base::Result<void> check_task_network(const Registration& request, const Container& container) {
  if (mode_of(request) != NetworkMode::Awsvpc) return {};
  const auto refuse = [&](bool given, std::string_view member) -> base::Result<void> {
    if (!given) return {};
    return invalid_setting(container,
                           base::format("{} is not supported when networkMode=awsvpc.", member));
  };
  TRY_VOID(refuse(!container.hostname.value_or("").empty(), "The container hostname"));
  TRY_VOID(refuse(!container.extra_hosts.empty(), "Extra hosts"));
  return refuse(container.disable_networking.value_or(false), "disableNetworking");
}

}  // namespace

std::string_view linked_container(std::string_view link) {
  return link.substr(0, link.find(':'));
}

base::Result<void> check_network(const Registration& request) {
  for (const Container& container : request.container_definitions) {
    TRY_VOID(check_links(request, container));
    TRY_VOID(check_task_network(request, container));
  }
  return check_port_mappings(request);
}

}  // namespace control
