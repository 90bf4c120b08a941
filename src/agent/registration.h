// What an agent tells about its machine when it registers.
#pragma once

#include <cstdint>
#include <string>

#include "agent/agent.h"
#include "api/generated/ecs.h"
#include "base/result.h"
#include "docker/runtime.h"
#include "gpu/devices.h"

namespace agent {

// What does not change while the agent runs.
struct Machine {
  std::string instance_id;
  std::string host_name;
  std::string instance_type;           // Empty: made from the GPUs.
  std::string emulated_instance_type;  // Empty: the machine itself.
  std::string availability_zone;
  std::string cpu_architecture;  // "x86_64" or "arm64".
  std::string identity;          // Of machine_identity.h, or Docker's there; empty: not known.
  std::string running_place;     // Of machine_identity.h, for the data directory.
  int64_t cpu_units = 0;
  int64_t memory_mib = 0;
};

// From the options, the catalogue and this machine. Errors: InvalidParameterException for an
// unknown type (names the nearest), ServerException when the machine's memory cannot be read.
base::Result<Machine> describe_machine(const AgentOptions& options, std::string instance_id);

// "DockerVersion: 20.10.24", as the ECS agent says it; empty for an empty version.
std::string docker_version_text(const std::string& version);

struct RegistrationFacts {
  const AgentOptions& options;
  const Machine& machine;
  const gpu::Inventory& gpus;
  // Null when Docker does not answer: then `status_reason` says why.
  const docker::RuntimeInfo* docker = nullptr;
  std::string status_reason = {};
  std::string container_instance_arn = {};  // Empty: the first time.
  std::string host_address = {};            // Others reach this machine there; empty: not known.
};

// Pure.
api::ecs::RegisterContainerInstanceRequest registration_request(const RegistrationFacts& facts);

}  // namespace agent
