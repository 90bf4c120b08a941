// The records that differ from what the state keeps in memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/state.h"

namespace model {

struct GpuRecord {
  GpuDevice device;
  std::string quarantined;  // The reason; empty: not quarantined.
  std::vector<TaskArn> unproven_tasks;
  bool released_unproven = false;
};
API_DESCRIBED(GpuRecord);

// A ContainerInstance without what is derived from its tasks.
struct InstanceRecord {
  InstanceArn arn;
  ClusterName cluster;
  std::string ec2_instance_id;
  InstanceStatus status = InstanceStatus::Active;
  int64_t version = 1;
  base::Time registered_at;
  std::string agent_version;
  std::string agent_hash;
  std::string docker_version;
  bool external = false;
  std::string emulated_instance_type;
  std::string gpu_driver_version;
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
  std::vector<HostPort> reserved_ports;
  std::map<std::string, std::string> attributes;
  std::vector<GpuRecord> gpus;
  api::List<api::ecs::Tag> tags;
  bool agent_connected = false;
  bool agent_silent = false;
  std::string status_reason;
  base::Time connected_changed_at;
  std::string capacity_provider;
};
API_DESCRIBED(InstanceRecord);
InstanceRecord record_of(const ContainerInstance& instance);
ContainerInstance instance_from(InstanceRecord record);

struct SequenceNumbersRecord {
  int64_t reserved_until = 0;
};
API_DESCRIBED(SequenceNumbersRecord);

struct AccountSettingRecord {
  std::string name;
  std::string value;
};
API_DESCRIBED(AccountSettingRecord);

struct DeletedRevisionsRecord {
  std::string family;
  int32_t newest = 0;
};
API_DESCRIBED(DeletedRevisionsRecord);

}  // namespace model
