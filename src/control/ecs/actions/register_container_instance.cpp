#include <algorithm>

#include "base/format.h"
#include "base/text.h"
#include "control/agents/agent_keys.h"
#include "control/agents/identity_document.h"
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
  for (const api::ecs::PlatformDevice& platform : request.platform_devices) {
    if (platform.type != api::ecs::PlatformDeviceType::Gpu) continue;
    if (platform.id.value_or("").empty()) {
      return invalid_parameter("platformDevices: the id of a GPU is empty.");
    }
    if (model::find_gpu(instance, *platform.id) != nullptr) {
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

// A GPU that was quarantined under an instance that is no more stays so under the new one: nobody
// has proven it empty meanwhile. It moves with its reason, so that it stands in one place.
void carry_quarantines(Step& step, model::ContainerInstance& made,
                       std::vector<model::GpuCleared>& moved) {
  for (const auto& [arn, other] : step.state().instances) {
    if (arn == made.arn || other.status != model::InstanceStatus::Inactive) continue;
    for (model::GpuSlot& gpu : made.gpus) {
      const model::GpuSlot* const old = model::find_gpu(other, gpu.device.uuid);
      if (old == nullptr || old->state != model::GpuState::Quarantined) continue;
      gpu.state = old->state;
      gpu.reason = old->reason;
      gpu.unproven_tasks = old->unproven_tasks;
      moved.push_back({arn, gpu.device.uuid});
    }
  }
}

// What an agent tells of itself at each registration; what is no longer so must not stay.
bool is_told_by_agent(std::string_view attribute) {
  return attribute.starts_with("ecs.capability.") ||
         attribute.starts_with("com.amazonaws.ecs.capability.") ||
         attribute.starts_with("berth.gpu-") || attribute == "berth.cuda-version" ||
         attribute == model::attribute_host_name || attribute == "berth.agent";
}

// A physical GPU has one owner. An instance that its machine has left behind (a lost data
// directory) gives way when nothing runs there any more.
base::Result<void> check_gpu_owner(Step& step, const model::ContainerInstance& made) {
  std::vector<model::InstanceArn> left_behind;
  for (const auto& [arn, other] : step.state().instances) {
    if (arn == made.arn || other.status == model::InstanceStatus::Inactive) continue;
    const bool same_gpu = std::ranges::any_of(made.gpus, [&](const model::GpuSlot& gpu) {
      return model::find_gpu(other, gpu.device.uuid) != nullptr;
    });
    if (!same_gpu) continue;
    if (!other.tasks.empty()) {
      return client_error(base::format(
          "A GPU of this machine is already registered by container instance {}, which still has "
          "{} task(s). If this machine has lost its data directory, deregister that instance with "
          "--force first.",
          arn.str(), other.tasks.size()));
    }
    left_behind.push_back(arn);
  }
  for (const model::InstanceArn& arn : left_behind) {
    step.change(model::InstanceDeregistered{arn, step.now});
  }
  return {};
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
  instance.external = attributes.contains("ecs.capability.external");
  return {};
}

}  // namespace

Answer<api::ecs::RegisterContainerInstanceResponse> register_container_instance(
    Step& step, const api::ecs::RegisterContainerInstanceRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const bool again = request.container_instance_arn && !request.container_instance_arn->empty();
  TRY_VOID(allow(step, "RegisterContainerInstance", cluster->name,
                 again ? *request.container_instance_arn : std::string()));
  const IdentityDocument document =
      TRY(parse_identity_document(request.instance_identity_document));
  const model::InstanceType* const type = model::find_instance_type(document.instance_type);

  model::ContainerInstance made;
  made.cluster = cluster->name;
  made.registered_at = step.now;
  if (again) {
    const model::ContainerInstance* const before =
        TRY(require_instance(step, cluster->name, *request.container_instance_arn));
    if (before->status == model::InstanceStatus::Inactive) {
      return invalid_parameter(
          base::format("The container instance {} has been deregistered. Register without its ARN.",
                       before->arn.str()));
    }
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
  if (!document.instance_id.empty()) made.ec2_instance_id = document.instance_id;
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
  TRY_VOID(check_gpu_owner(step, made));
  std::vector<model::GpuCleared> moved;
  carry_quarantines(step, made, moved);

  const model::InstanceArn arn = made.arn;
  step.change(model::InstanceRegistered{std::move(made)});
  bind_agent_key(step, arn);
  for (model::GpuCleared& gpu : moved) step.change(std::move(gpu));
  const std::string reason = request.berth_status_reason.value_or("");
  step.change(model::AgentConnectionChanged{arn, reason.empty(), reason, step.now});
  api::ecs::RegisterContainerInstanceResponse response;
  response.container_instance =
      describe_instance(step, *model::find_instance(step.state(), arn), true);
  return response;
}

}  // namespace control::ecs
