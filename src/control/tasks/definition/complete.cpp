#include "control/tasks/definition/complete.h"

#include <algorithm>

#include "control/tasks/definition/required_attributes.h"
#include "control/tasks/definition/rules.h"
#include "control/tasks/task_plan.h"

namespace control {
namespace {

using api::ecs::Compatibility;

void fill_in(api::ecs::PortMapping& mapping, bool own_ports) {
  const bool range = mapping.container_port_range.has_value();
  if (!mapping.host_port && !range) mapping.host_port = own_ports ? mapping.container_port : 0;
  if (!mapping.protocol) mapping.protocol = api::ecs::TransportProtocol::Tcp;
}

void fill_in(Container& container, bool own_ports) {
  if (!container.cpu) container.cpu = 0;
  if (!container.essential) container.essential = true;
  container.port_mappings.set_present();
  container.environment.set_present();
  container.mount_points.set_present();
  container.volumes_from.set_present();
  container.system_controls.set_present();
  for (api::ecs::PortMapping& mapping : container.port_mappings) fill_in(mapping, own_ports);
}

// An empty text is no figure.
template <class Parse>
base::Result<std::optional<std::string>> plain_number(const std::optional<std::string>& text,
                                                      Parse parse) {
  if (text.value_or("").empty()) return std::nullopt;
  return std::to_string(TRY(parse(*text)));
}

}  // namespace

base::Result<api::ecs::TaskDefinition> complete_task_definition(const Registration& request) {
  const auto gpus = TRY(gpu_requests_of(request));
  api::ecs::TaskDefinition made;
  made.family = request.family;
  made.container_definitions = request.container_definitions;
  const bool own_ports = request.network_mode == api::ecs::NetworkMode::Host ||
                         request.network_mode == api::ecs::NetworkMode::Awsvpc;
  for (Container& container : made.container_definitions) fill_in(container, own_ports);
  made.task_role_arn = request.task_role_arn;
  made.execution_role_arn = request.execution_role_arn;
  made.network_mode = request.network_mode;
  made.volumes = request.volumes;
  made.volumes.set_present();
  made.placement_constraints = request.placement_constraints;
  made.placement_constraints.set_present();
  made.runtime_platform = request.runtime_platform;
  made.requires_compatibilities = request.requires_compatibilities;
  // Source: ECS API reference, RegisterTaskDefinition, cpu and memory: "String values are converted
  // to an integer".
  made.cpu = TRY(plain_number(request.cpu, parse_cpu_units));
  made.memory = TRY(plain_number(request.memory, parse_memory_mib));
  made.pid_mode = request.pid_mode;
  made.ipc_mode = request.ipc_mode;
  made.enable_fault_injection = request.enable_fault_injection;
  // GPU sharing too: ECS itself leaves EXTERNAL out there, Berth's machines are all of that kind.
  made.compatibilities = {Compatibility::Ec2, Compatibility::External};
  made.requires_attributes = required_attributes(made, gpus);
  return made;
}

}  // namespace control
