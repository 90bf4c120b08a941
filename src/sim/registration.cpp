#include "sim/registration.h"

#include <utility>

#include "json/value.h"
#include "model/capabilities.h"

namespace sim {
namespace {

api::ecs::PlatformDevice platform_device(const PhysicalGpu& gpu) {
  api::ecs::PlatformDevice device;
  device.id = gpu.device.uuid;
  device.type = api::ecs::PlatformDeviceType::Gpu;
  api::ecs::BerthGpu& told = device.berth_gpu.emplace();
  told.uuid = gpu.device.uuid;
  told.model = gpu.device.model;
  told.architecture = gpu.device.architecture;
  told.memory_mib = gpu.device.memory_mib;
  told.pci_bus_id = gpu.device.pci_bus_id;
  told.numa_node = gpu.device.numa_node;
  told.cpu_list = gpu.device.cpu_list;
  told.mps_capable = gpu.device.mps_capable;
  told.emulated = gpu.device.emulated;
  told.healthy = gpu.on_bus;
  if (!gpu.on_bus) told.health_reason = "the GPU has fallen off the bus";
  return device;
}

void add_resource(api::ecs::RegisterContainerInstanceRequest& request, const char* name,
                  int64_t value) {
  api::ecs::Resource& resource = request.total_resources.emplace_back();
  resource.name = name;
  resource.type = "INTEGER";
  resource.integer_value = static_cast<int32_t>(value);
}

void add_attribute(api::ecs::RegisterContainerInstanceRequest& request, std::string_view name,
                   std::string_view value) {
  api::ecs::Attribute& attribute = request.attributes.emplace_back();
  attribute.name = std::string(name);
  if (!value.empty()) attribute.value = std::string(value);
}

// Every other machine stands in the second one.
std::string zone_of(const Machine& machine) {
  return (machine.name().back() - '0') % 2 == 0 ? "us-east-1b" : "us-east-1a";
}

}  // namespace

api::ecs::RegisterContainerInstanceRequest registration_request(const Machine& machine,
                                                                const std::set<std::string>& found,
                                                                const std::string& docker_reason,
                                                                const std::string& arn) {
  api::ecs::RegisterContainerInstanceRequest request;
  request.cluster = "default";
  if (!arn.empty()) request.container_instance_arn = arn;
  request.instance_identity_document =
      json::print(json::Value::object({{"instanceId", "i-" + machine.name()},
                                       {"instanceType", machine.type().name},
                                       {"availabilityZone", zone_of(machine)},
                                       {"region", "us-east-1"}}));
  add_resource(request, "CPU", int64_t{machine.type().vcpus} * 1024);
  add_resource(request, "MEMORY", machine.type().memory_mib);
  for (const std::string_view capability : model::capabilities_of_every_agent) {
    add_attribute(request, capability, "");
  }
  add_attribute(request, model::capability_gpu_sharing, "");
  add_attribute(request, "berth.agent", "simulated");
  for (const auto& [uuid, gpu] : machine.gpus().all()) {
    if (found.contains(uuid)) request.platform_devices.push_back(platform_device(gpu));
  }
  request.version_info.emplace().agent_version = "simulated";
  if (!docker_reason.empty()) request.berth_status_reason = docker_reason;
  return request;
}

}  // namespace sim
