#include "control/tasks/task_network.h"

#include <string_view>

#include "base/format.h"
#include "control/request/errors.h"

namespace control {
namespace {

std::string id_of(const model::Task& task) {
  const std::string& arn = task.arn.str();
  return arn.substr(arn.rfind('/') + 1);
}

// 32 hexadecimal digits in the shape of a UUID.
std::string attachment_id(const model::Task& task) {
  const std::string id = id_of(task);
  if (id.size() < 32) return id;
  return base::format("{}-{}-{}-{}-{}", id.substr(0, 8), id.substr(8, 4), id.substr(12, 4),
                      id.substr(16, 4), id.substr(20, 12));
}

// Locally administered, unicast.
std::string mac_address(const model::Task& task) {
  const std::string id = id_of(task);
  std::string mac = "0a";
  for (size_t i = 0; i + 2 <= 10 && i + 2 <= id.size(); i += 2) mac += ":" + id.substr(i, 2);
  return mac;
}

std::string interface_id(const model::Task& task) {
  return "eni-0" + id_of(task).substr(0, 16);
}

std::string private_address(const model::Task& task) {
  for (const model::TaskContainer& container : task.containers) {
    for (const api::ecs::NetworkBinding& binding : container.network_bindings) {
      if (binding.bind_ip && !binding.bind_ip->empty()) return *binding.bind_ip;
    }
  }
  return {};
}

// Source: ECS Developer Guide, "Task networking", the states of an attachment.
std::string_view attachment_status(const model::Task& task, const std::string& address) {
  if (task.last_status == model::TaskStatus::Stopped) return "DELETED";
  return address.empty() ? "ATTACHING" : "ATTACHED";
}

}  // namespace

base::Result<void> check_network_configuration(
    const api::ecs::TaskDefinition& definition,
    const std::optional<api::ecs::NetworkConfiguration>& given) {
  const bool wanted = definition.network_mode == api::ecs::NetworkMode::Awsvpc;
  // An empty one says nothing.
  if (!given || !given->awsvpc_configuration) {
    if (!wanted) return {};
    return invalid_parameter(
        "Network Configuration must be provided when networkMode 'awsvpc' is specified. Any name "
        "of a subnet will do: awsvpcConfiguration={subnets=[local]}.");
  }
  if (!wanted) {
    return invalid_parameter(
        "Network Configuration is not valid for the given networkMode of this task definition.");
  }
  if (given->awsvpc_configuration->subnets.empty()) {
    return invalid_parameter("subnets can not be empty.");
  }
  const api::ecs::AwsVpcConfiguration& vpc = *given->awsvpc_configuration;
  if (vpc.subnets.size() > 16) return invalid_parameter("subnets can have at most 16 items.");
  if (!vpc.security_groups.empty()) {
    return client_error(
        "awsvpcConfiguration.securityGroups is not offered by Berth, which has no firewall of its "
        "own: leave it out, and filter on the container instance.");
  }
  if (vpc.assign_public_ip == api::ecs::AssignPublicIp::Enabled) {
    return client_error(
        "awsvpcConfiguration.assignPublicIp ENABLED is not offered by Berth: a task's address is "
        "its container instance's own; publish ports with network mode bridge or host.");
  }
  return {};
}

std::string subnet_of(const std::optional<api::ecs::NetworkConfiguration>& given) {
  if (!given || !given->awsvpc_configuration) return {};
  const auto& subnets = given->awsvpc_configuration->subnets;
  return subnets.empty() ? std::string() : subnets.front();
}

bool has_task_network(const model::TaskDefinition* definition) {
  return definition != nullptr &&
         definition->definition.network_mode == api::ecs::NetworkMode::Awsvpc;
}

acs::ElasticNetworkInterface network_interface(const model::Task& task) {
  acs::ElasticNetworkInterface made;
  const std::string& arn = task.arn.str();
  const size_t resource = arn.find(":task/");
  made.attachment_arn =
      base::format("{}:attachment/{}", arn.substr(0, resource), attachment_id(task));
  made.ec2_id = interface_id(task);
  made.mac_address = mac_address(task);
  return made;
}

void add_network_interface(const model::Task& task, api::ecs::Task& made) {
  const std::string address = private_address(task);
  api::ecs::Attachment& attachment = made.attachments.emplace_back();
  attachment.id = attachment_id(task);
  attachment.type = "ElasticNetworkInterface";
  attachment.status = std::string(attachment_status(task, address));
  const auto detail = [&](const char* name, const std::string& value) {
    if (value.empty()) return;
    api::ecs::KeyValuePair& pair = attachment.details.emplace_back();
    pair.name = name;
    pair.value = value;
  };
  detail("subnetId", task.subnet);
  detail("networkInterfaceId", interface_id(task));
  detail("macAddress", mac_address(task));
  detail("privateIPv4Address", address);
  for (api::ecs::Container& container : made.containers) {
    container.network_bindings.clear();
    container.network_bindings.set_present();
    if (address.empty()) continue;
    api::ecs::NetworkInterface& shown = container.network_interfaces.emplace_back();
    shown.attachment_id = attachment.id;
    shown.private_ipv4_address = address;
  }
}

}  // namespace control
