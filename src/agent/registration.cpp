#include "agent/registration.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <thread>
#include <utility>

#include "base/format.h"
#include "base/text.h"
#include "json/value.h"
#include "model/capabilities.h"
#include "model/catalogue.h"

namespace agent {
namespace {

base::Result<int64_t> memory_of_this_machine() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  int64_t kib = 0;
  std::string unit;
  while (file >> name >> kib >> unit) {
    if (name == "MemTotal:") return kib / 1024;
  }
  return base::fail(
      "ServerException",
      "The machine's memory cannot be read from /proc/meminfo; give it as an option.");
}

// An emulated machine is told from others of its host by its directory: "box-0-p3.8xlarge".
std::string host_name_of(const AgentOptions& options) {
  utsname name{};
  std::string host = uname(&name) == 0 ? name.nodename : "";
  if (options.emulated_instance_type.empty()) return host;
  const std::string own = options.data_dir.filename().string();
  return host.empty() || own.empty() ? host + own : host + "-" + own;
}

std::string architecture_of_this_machine() {
  utsname name{};
  if (uname(&name) != 0) return "x86_64";
  const std::string machine = name.machine;
  return machine == "aarch64" ? "arm64" : machine;
}

// Attribute values are letters, digits and a few signs. Source: ECS API reference, "Attribute".
std::string attribute_value(std::string text) {
  for (char& c : text) {
    if (!base::is_plain(c, "-_/\\.@: ")) c = '-';
  }
  while (text.starts_with(' ')) text.erase(0, 1);
  while (text.ends_with(' ')) text.pop_back();
  return text.substr(0, 128);
}

class Attributes {
 public:
  void add(std::string_view name, std::string value = {}) {
    if (list_.size() > 0 &&
        std::ranges::any_of(list_, [&](const auto& one) { return one.name == name; })) {
      return;  // The first stands.
    }
    api::ecs::Attribute& attribute = list_.emplace_back();
    attribute.name = std::string(name);
    if (!value.empty()) attribute.value = attribute_value(std::move(value));
  }
  api::List<api::ecs::Attribute> take() { return std::move(list_); }

 private:
  api::List<api::ecs::Attribute> list_;
};

// Through MPS, or by giving a MIG instance for a share that fits it.
bool can_share(const gpu::Inventory& inventory) {
  const bool has_mps = !inventory.mps.control_program.empty();
  return std::ranges::any_of(inventory.gpus, [&](const model::GpuDevice& gpu) {
    return (has_mps && gpu.mps_capable) || !gpu.mig_profile.empty();
  });
}

// A log driver that this machine's Docker has, or that the agent plays itself. Anything else than a
// log driver is none that it lacks.
bool can_log(std::string_view capability, const docker::RuntimeInfo* docker) {
  if (!capability.starts_with(model::capability_log_driver_prefix) || docker == nullptr) {
    return true;
  }
  const std::string_view driver = capability.substr(model::capability_log_driver_prefix.size());
  return driver == "awslogs" ||
         std::ranges::find(docker->log_drivers, driver) != docker->log_drivers.end();
}

void add_gpu_attributes(Attributes& attributes, const gpu::Inventory& inventory) {
  if (inventory.gpus.empty()) return;
  // Machines of mixed GPUs are told by their first; placement looks at each GPU anyway.
  const model::GpuDevice& first = inventory.gpus.front();
  attributes.add("berth.gpu-model", first.model);
  if (!first.architecture.empty()) attributes.add("berth.gpu-arch", first.architecture);
  attributes.add("berth.gpu-memory-mib", base::format("{}", first.memory_mib));
  attributes.add("berth.gpu-count", base::format("{}", inventory.gpus.size()));
  const bool nvlink = std::ranges::any_of(
      inventory.gpus, [](const model::GpuDevice& gpu) { return !gpu.nvlinks.empty(); });
  attributes.add("berth.gpu-nvlink", nvlink ? "true" : "false");
  for (size_t i = 0; i < inventory.gpus.size(); ++i) {
    const std::vector<std::string>& nics = inventory.gpus[i].nics;
    if (nics.empty()) continue;
    attributes.add(base::format("berth.gpu-nics.{}", i), base::format("{}", base::join(nics, " ")));
  }
  if (can_share(inventory)) attributes.add(model::capability_gpu_sharing);
  if (!inventory.cuda_version.empty()) {
    attributes.add("berth.cuda-version", inventory.cuda_version);
  }
  if (inventory.driver_version.empty()) return;
  attributes.add("ecs.capability.gpu-driver-version", inventory.driver_version);
  attributes.add("ecs.capability.nvidia-driver-version." + inventory.driver_version);
}

api::ecs::PlatformDevice platform_device(const model::GpuDevice& gpu, const gpu::MpsSupport& mps) {
  api::ecs::PlatformDevice device;
  device.id = gpu.uuid;
  device.type = api::ecs::PlatformDeviceType::Gpu;
  device.gpu_info.emplace().memory_in_mib = static_cast<int32_t>(gpu.memory_mib);
  api::ecs::BerthGpu& told = device.berth_gpu.emplace();
  told.uuid = gpu.uuid;
  told.model = gpu.model;
  told.architecture = gpu.architecture;
  told.memory_mib = gpu.memory_mib;
  told.pci_bus_id = gpu.pci_bus_id;
  told.pcie_switch = gpu.pcie_switch;
  told.numa_node = gpu.numa_node;
  told.cpu_list = gpu.cpu_list;
  for (const model::NvLink& link : gpu.nvlinks) {
    api::ecs::BerthNvLink& one = told.nv_links.emplace_back();
    one.peer = link.peer;
    one.lanes = static_cast<int32_t>(link.lanes);
  }
  for (const std::string& nic : gpu.nics) told.nics.push_back(nic);
  told.mig_profile = gpu.mig_profile;
  told.mig_parent = gpu.mig_parent;
  told.mps_capable = gpu.mps_capable && !mps.control_program.empty();
  told.emulated = gpu.emulated;
  told.healthy = gpu.healthy;
  told.health_reason = gpu.health_reason;
  return device;
}

void add_resource(api::ecs::RegisterContainerInstanceRequest& request, const char* name,
                  int64_t value) {
  api::ecs::Resource& resource = request.total_resources.emplace_back();
  resource.name = name;
  resource.type = "INTEGER";
  resource.integer_value = static_cast<int32_t>(value);
}

void add_ports(api::ecs::RegisterContainerInstanceRequest& request, const char* name,
               const std::vector<uint16_t>& ports) {
  api::ecs::Resource& resource = request.total_resources.emplace_back();
  resource.name = name;
  resource.type = "STRINGSET";
  resource.string_set_value.set_present();
  for (const uint16_t port : ports) {
    resource.string_set_value.push_back(base::format("{}", port));
  }
}

std::string instance_type_of(const RegistrationFacts& facts) {
  return facts.machine.instance_type.empty() ? model::instance_type_of_gpus(facts.gpus.gpus)
                                             : facts.machine.instance_type;
}

std::string identity_document(const RegistrationFacts& facts) {
  return json::print(json::Value::object({{"instanceId", facts.machine.instance_id},
                                          {"instanceType", instance_type_of(facts)},
                                          {"availabilityZone", facts.machine.availability_zone},
                                          {"region", facts.options.region},
                                          {"architecture", facts.machine.cpu_architecture}}));
}

}  // namespace

base::Result<Machine> describe_machine(const AgentOptions& options, std::string instance_id) {
  Machine machine;
  machine.instance_id = std::move(instance_id);
  machine.host_name = host_name_of(options);
  machine.emulated_instance_type = options.emulated_instance_type;
  machine.instance_type =
      options.instance_type.empty() ? options.emulated_instance_type : options.instance_type;
  machine.availability_zone =
      options.availability_zone.empty() ? options.region + "a" : options.availability_zone;
  machine.cpu_architecture = architecture_of_this_machine();
  machine.cpu_units = options.cpu_units;
  machine.memory_mib = options.memory_mib;
  if (!options.emulated_instance_type.empty()) {
    const model::InstanceType* const type =
        TRY(model::require_instance_type(options.emulated_instance_type));
    if (machine.cpu_units == 0) machine.cpu_units = int64_t{type->vcpus} * 1024;
    if (machine.memory_mib == 0) machine.memory_mib = type->memory_mib;
  }
  if (machine.cpu_units == 0) {
    machine.cpu_units = int64_t{std::max(std::thread::hardware_concurrency(), 1U)} * 1024;
  }
  if (machine.memory_mib == 0) machine.memory_mib = TRY(memory_of_this_machine());
  return machine;
}

std::string docker_version_text(const std::string& version) {
  return version.empty() ? "" : "DockerVersion: " + version;
}

api::ecs::RegisterContainerInstanceRequest registration_request(const RegistrationFacts& facts) {
  const AgentOptions& options = facts.options;
  const Machine& machine = facts.machine;
  api::ecs::RegisterContainerInstanceRequest request;
  request.cluster = options.cluster;
  if (!facts.container_instance_arn.empty()) {
    request.container_instance_arn = facts.container_instance_arn;
  }
  request.instance_identity_document = identity_document(facts);
  add_resource(request, "CPU", machine.cpu_units);
  add_resource(request, "MEMORY", machine.memory_mib);
  add_ports(request, "PORTS", options.reserved_ports);
  add_ports(request, "PORTS_UDP", {});

  Attributes attributes;
  for (const std::string_view capability : model::capabilities_of_every_agent) {
    if (can_log(capability, facts.docker)) attributes.add(capability);
  }
  attributes.add("ecs.instance-type", instance_type_of(facts));
  attributes.add("ecs.availability-zone", machine.availability_zone);
  attributes.add("ecs.os-type", "linux");
  attributes.add(model::attribute_cpu_architecture, machine.cpu_architecture);
  attributes.add("berth.agent", options.version);
  if (!machine.identity.empty()) attributes.add(model::attribute_machine, machine.identity);
  if (!machine.host_name.empty()) {
    attributes.add(model::attribute_host_name, machine.host_name);
  }
  add_gpu_attributes(attributes, facts.gpus);
  for (const auto& [name, value] : options.attributes) attributes.add(name, value);
  for (const auto& [name, value] : model::attributes_of(options.bounds)) {
    attributes.add(name, value);
  }
  if (!facts.host_address.empty()) {
    attributes.add(model::attribute_host_address, facts.host_address);
  }
  request.attributes = attributes.take();

  for (const model::GpuDevice& gpu : facts.gpus.gpus) {
    request.platform_devices.push_back(platform_device(gpu, facts.gpus.mps));
  }
  api::ecs::VersionInfo& version = request.version_info.emplace();
  version.agent_version = options.version;
  version.agent_hash = options.hash;
  if (facts.docker != nullptr) version.docker_version = docker_version_text(facts.docker->version);
  if (!facts.gpus.driver_version.empty()) {
    request.berth_gpu_driver_version = facts.gpus.driver_version;
  }
  if (!machine.emulated_instance_type.empty()) {
    request.berth_emulated_instance_type = machine.emulated_instance_type;
  }
  if (!facts.status_reason.empty()) request.berth_status_reason = facts.status_reason;
  return request;
}

}  // namespace agent
