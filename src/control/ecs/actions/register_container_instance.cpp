#include <set>
#include <string>
#include <string_view>

#include "base/format.h"
#include "base/text.h"
#include "control/agents/agent_bounds.h"
#include "control/agents/agent_keys.h"
#include "control/agents/claims.h"
#include "control/agents/identity_document.h"
#include "control/agents/reports.h"
#include "control/capacity/groups/machines.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/attributes.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/tags.h"
#include "model/capabilities.h"
#include "model/catalogue.h"

namespace control::ecs {
namespace {

// The ports that an agent's machine uses itself. Source: ECS_RESERVED_PORTS of the ECS agent.
constexpr uint16_t default_reserved_ports[] = {22, 2375, 2376, 51678, 51679};

base::Result<void> take_ports(const api::ecs::Resource& resource, bool udp,
                              std::set<model::HostPort>& ports) {
  for (const std::string& text : resource.string_set_value) {
    const auto port = base::parse_number<uint16_t>(text);
    if (!port) {
      return invalid_parameter(
          base::format("totalResources: \"{}\" in {} is not a port number between 0 and 65535.",
                       text, resource.name.value_or("PORTS")));
    }
    ports.insert({*port, udp});
  }
  return {};
}

base::Result<void> take_resources(const api::ecs::RegisterContainerInstanceRequest& request,
                                  const model::InstanceType* type,
                                  model::ContainerInstance& instance) {
  for (const api::ecs::Resource& resource : request.total_resources) {
    const std::string& name = resource.name.value_or("");
    if (name == "CPU") {
      instance.cpu_units = resource.integer_value.value_or(0);
    } else if (name == "MEMORY") {
      instance.memory_mib = resource.integer_value.value_or(0);
    } else if (name == "PORTS" || name == "PORTS_UDP") {
      TRY_VOID(take_ports(resource, name == "PORTS_UDP", instance.reserved_ports));
    }
  }
  if (request.total_resources.empty() && type != nullptr) {
    instance.cpu_units = int64_t{type->vcpus} * 1024;
    instance.memory_mib = type->memory_mib;
    for (const uint16_t port : default_reserved_ports) {
      instance.reserved_ports.insert({port, false});
    }
  }
  if (instance.cpu_units <= 0 || instance.memory_mib <= 0) {
    return invalid_parameter(
        "The instance's CPU and MEMORY are not known: send them in totalResources, or an "
        "instanceIdentityDocument whose instanceType is in Berth's catalogue.");
  }
  return {};
}

model::GpuDevice device_of(const api::ecs::PlatformDevice& platform,
                           const model::InstanceType* type) {
  model::GpuDevice device;
  device.uuid = platform.id.value_or("");
  if (type != nullptr && type->gpus.count > 0) {
    device.model = type->gpus.model;
    device.architecture = type->gpus.architecture;
    device.memory_mib = type->gpus.memory_mib;
  }
  if (platform.gpu_info && platform.gpu_info->memory_in_mib) {
    device.memory_mib = *platform.gpu_info->memory_in_mib;
  }
  if (!platform.berth_gpu) return device;
  const api::ecs::BerthGpu& gpu = *platform.berth_gpu;
  device.model = gpu.model.value_or(device.model);
  device.architecture = gpu.architecture.value_or(device.architecture);
  device.memory_mib = gpu.memory_mib.value_or(device.memory_mib);
  device.pci_bus_id = gpu.pci_bus_id.value_or("");
  device.pcie_switch = gpu.pcie_switch.value_or("");
  device.numa_node = gpu.numa_node.value_or(-1);
  device.cpu_list = gpu.cpu_list.value_or("");
  for (const api::ecs::BerthNvLink& link : gpu.nv_links) {
    device.nvlinks.push_back(
        {link.peer.value_or(""), static_cast<uint32_t>(link.lanes.value_or(0))});
  }
  for (const std::string& nic : gpu.nics) device.nics.push_back(nic);
  device.mig_profile = gpu.mig_profile.value_or("");
  device.mig_parent = gpu.mig_parent.value_or("");
  device.mps_capable = gpu.mps_capable.value_or(false);
  device.emulated = gpu.emulated.value_or(false);
  device.healthy = gpu.healthy.value_or(true);
  device.health_reason = gpu.health_reason.value_or("");
  return device;
}

base::Result<void> take_gpus(const api::ecs::RegisterContainerInstanceRequest& request,
                             const model::InstanceType* type, model::ContainerInstance& instance) {
  std::set<std::string_view> listed;
  for (const api::ecs::PlatformDevice& platform : request.platform_devices) {
    if (platform.type != api::ecs::PlatformDeviceType::Gpu) continue;
    if (platform.id.value_or("").empty()) {
      return invalid_parameter("platformDevices: the id of a GPU is empty.");
    }
    if (!listed.insert(*platform.id).second) {
      return invalid_parameter(
          base::format("platformDevices: GPU {} is listed twice.", *platform.id));
    }
    instance.gpus.push_back({.device = device_of(platform, type),
                             .state = model::GpuState::Idle,
                             .reason = {},
                             .holders = {}});
  }
  return {};
}

// What an agent tells of itself at each registration; what is no longer so must not stay.
bool is_told_by_agent(std::string_view attribute) {
  return attribute.starts_with("ecs.capability.") ||
         attribute.starts_with("com.amazonaws.ecs.capability.") || attribute.starts_with("berth.");
}

base::Result<void> take_attributes(const Step& step,
                                   const api::ecs::RegisterContainerInstanceRequest& request,
                                   const IdentityDocument& document,
                                   model::ContainerInstance& instance) {
  auto& attributes = instance.attributes;
  std::erase_if(attributes, [](const auto& one) { return is_told_by_agent(one.first); });
  if (!document.instance_type.empty()) attributes["ecs.instance-type"] = document.instance_type;
  if (!document.image_id.empty()) attributes["ecs.ami-id"] = document.image_id;
  attributes["ecs.availability-zone"] = document.availability_zone.empty()
                                            ? step.settings.account.region + "a"
                                            : document.availability_zone;
  attributes["ecs.os-type"] = "linux";
  for (const api::ecs::Attribute& attribute : request.attributes) {
    TRY_VOID(check_attribute(attribute));
    attributes[attribute.name.value_or("")] = attribute.value.value_or("");
  }
  if (attributes.size() > most_instance_attributes) {
    return invalid_parameter(
        base::format("The container instance would have {} attributes; it may have at most {}.",
                     attributes.size(), most_instance_attributes));
  }
  instance.external = attributes.contains("ecs.capability.external");
  return {};
}

// A machine keeps its id for as long as it is a container instance.
base::Result<void> take_instance_id(const Step& step, const IdentityDocument& document,
                                    model::ContainerInstance& instance) {
  if (document.instance_id.empty()) return {};
  const std::string& before = instance.ec2_instance_id;
  if (!before.empty() && before != document.instance_id && !may_overrule(step)) {
    return client_error(base::format(
        "This container instance is the machine {}, and now says that it is {}. An agent's data "
        "directory belongs to one machine: start the agent with a new one and a join token of its "
        "own.",
        before, document.instance_id));
  }
  instance.ec2_instance_id = document.instance_id;
  return {};
}

// Another machine with a copy of the data must not change what the true one has registered while
// that one is there. The agent that was told so comes back: a machine that was moved is let in once
// its old connection has ended.
base::Result<void> check_machine(const model::ContainerInstance& before,
                                 const api::ecs::RegisterContainerInstanceRequest& request) {
  const auto known = before.attributes.find(std::string(model::attribute_machine));
  if (known == before.attributes.end() || !before.agent_connected) return {};
  for (const api::ecs::Attribute& attribute : request.attributes) {
    if (attribute.name != model::attribute_machine || attribute.value == known->second) continue;
    const auto host = before.attributes.find(std::string(model::attribute_host_name));
    return client_error(base::format(
        "The container instance {} is another machine{}, whose agent is connected. Is this "
        "machine, or its data directory, a copy of it? Give this one a data directory of its own "
        "(berth agent --data) and a join token.",
        before.arn.str(),
        host == before.attributes.end() ? "" : base::format(" ({})", host->second)));
  }
  return {};
}

}  // namespace

Answer<api::ecs::RegisterContainerInstanceResponse> register_container_instance(
    Step& step, const api::ecs::RegisterContainerInstanceRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const bool again = request.container_instance_arn && !request.container_instance_arn->empty();
  TRY_VOID(allow(step, "RegisterContainerInstance", cluster->name, {}));
  TRY_VOID(check_bounds(request, step.settings.most_gpus_per_instance));
  const model::ContainerInstance* before = nullptr;
  if (again) {
    // That it is unknown is told first: after an older backup was restored the agent, whatever its
    // key, registers anew.
    before = TRY(require_instance(step, cluster->name, *request.container_instance_arn));
    TRY_VOID(allow(step, "RegisterContainerInstance", cluster->name, before->arn.str()));
  }
  const IdentityDocument document =
      TRY(parse_identity_document(request.instance_identity_document));
  const model::InstanceType* const type = model::find_instance_type(document.instance_type);

  model::ContainerInstance made;
  made.cluster = cluster->name;
  made.registered_at = step.now;
  if (before != nullptr) {
    if (before->status == model::InstanceStatus::Inactive) {
      return invalid_parameter(
          base::format("The container instance {} has been deregistered. Register without its ARN.",
                       before->arn.str()));
    }
    TRY_VOID(check_machine(*before, request));
    made.arn = before->arn;
    made.ec2_instance_id = before->ec2_instance_id;
    made.status = before->status;
    made.version = before->version + 1;
    made.registered_at = before->registered_at;
    made.attributes = before->attributes;
    made.tags = before->tags;
  } else {
    TRY_VOID(check_new_instance(step));
    made.arn = model::instance_arn(step.settings.account, cluster->name, step.random.hex(32));
  }
  TRY_VOID(take_instance_id(step, document, made));
  made.capacity_provider = provider_of_machine(step.state(), made.ec2_instance_id);
  TRY_VOID(check_tags(request.tags, "container instance"));
  if (!request.tags.empty()) made.tags = request.tags;
  if (request.version_info) {
    made.agent_version = request.version_info->agent_version.value_or("");
    made.agent_hash = request.version_info->agent_hash.value_or("");
    made.docker_version = request.version_info->docker_version.value_or("");
  }
  made.emulated_instance_type = request.berth_emulated_instance_type.value_or("");
  made.gpu_driver_version = request.berth_gpu_driver_version.value_or("");
  TRY_VOID(take_attributes(step, request, document, made));
  TRY_VOID(take_resources(request, type, made));
  TRY_VOID(take_gpus(request, type, made));
  TakenOver over = TRY(claim_machine(step, made));

  for (const model::InstanceArn& left : over.left_behind) {
    step.change(model::InstanceDeregistered{left, step.now});
  }
  const model::InstanceArn arn = made.arn;
  step.change(model::InstanceRegistered{std::move(made)});
  bind_agent_key(step, arn);
  for (model::GpuCleared& gpu : over.quarantines) step.change(std::move(gpu));
  const std::string reason = request.berth_status_reason.value_or("").substr(0, most_reason);
  step.change(model::AgentConnectionChanged{arn, reason.empty(), reason, step.now});
  api::ecs::RegisterContainerInstanceResponse response;
  response.container_instance =
      describe_instance(step, *model::find_instance(step.state(), arn), true);
  return response;
}

}  // namespace control::ecs
