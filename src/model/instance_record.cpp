#include <utility>

#include "model/record_types.h"

namespace model {

InstanceRecord record_of(const ContainerInstance& instance) {
  InstanceRecord record{
      .arn = instance.arn,
      .cluster = instance.cluster,
      .ec2_instance_id = instance.ec2_instance_id,
      .status = instance.status,
      .version = instance.version,
      .registered_at = instance.registered_at,
      .agent_version = instance.agent_version,
      .agent_hash = instance.agent_hash,
      .docker_version = instance.docker_version,
      .external = instance.external,
      .emulated_instance_type = instance.emulated_instance_type,
      .gpu_driver_version = instance.gpu_driver_version,
      .cpu_units = instance.cpu_units,
      .memory_mib = instance.memory_mib,
      .reserved_ports = {instance.reserved_ports.begin(), instance.reserved_ports.end()},
      .attributes = instance.attributes,
      .gpus = {},
      .tags = instance.tags,
      .agent_connected = instance.agent_connected,
      .agent_silent = instance.agent_silent,
      .status_reason = instance.status_reason,
      .connected_changed_at = instance.connected_changed_at,
      .capacity_provider = instance.capacity_provider};
  for (const GpuSlot& gpu : instance.gpus) {
    const bool quarantined = gpu.state == GpuState::Quarantined;
    record.gpus.push_back({gpu.device,
                           quarantined ? gpu.reason : std::string(),
                           {gpu.unproven_tasks.begin(), gpu.unproven_tasks.end()},
                           gpu.released_unproven});
  }
  return record;
}

ContainerInstance instance_from(InstanceRecord record) {
  ContainerInstance instance;
  instance.arn = std::move(record.arn);
  instance.cluster = std::move(record.cluster);
  instance.ec2_instance_id = std::move(record.ec2_instance_id);
  instance.status = record.status;
  instance.version = record.version;
  instance.registered_at = record.registered_at;
  instance.agent_version = std::move(record.agent_version);
  instance.agent_hash = std::move(record.agent_hash);
  instance.docker_version = std::move(record.docker_version);
  instance.external = record.external;
  instance.emulated_instance_type = std::move(record.emulated_instance_type);
  instance.gpu_driver_version = std::move(record.gpu_driver_version);
  instance.cpu_units = record.cpu_units;
  instance.memory_mib = record.memory_mib;
  instance.reserved_ports = {record.reserved_ports.begin(), record.reserved_ports.end()};
  instance.attributes = std::move(record.attributes);
  for (GpuRecord& gpu : record.gpus) {
    const bool quarantined = !gpu.quarantined.empty();
    instance.gpus.push_back(
        {.device = std::move(gpu.device),
         .state = quarantined ? GpuState::Quarantined : GpuState::Idle,
         .reason = std::move(gpu.quarantined),
         .unproven_tasks = {gpu.unproven_tasks.begin(), gpu.unproven_tasks.end()},
         .released_unproven = gpu.released_unproven,
         .holders = {}});
  }
  instance.tags = std::move(record.tags);
  instance.agent_connected = record.agent_connected;
  instance.agent_silent = record.agent_connected && record.agent_silent;
  instance.status_reason = std::move(record.status_reason);
  instance.connected_changed_at = record.connected_changed_at;
  instance.capacity_provider = std::move(record.capacity_provider);
  return instance;
}

}  // namespace model
