// The rules of a task definition by subject; validate_task_definition() asks them all.
// Each function's errors are ClientExceptions unless it says otherwise.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/ecs.h"
#include "base/format.h"
#include "base/result.h"
#include "control/request/errors.h"
#include "control/request/plain_name.h"
#include "model/resources.h"

namespace control {

using Registration = api::ecs::RegisterTaskDefinitionRequest;
using Container = api::ecs::ContainerDefinition;

// unsupported.cpp: a member that Berth does not honour yet is refused by name, with what to do.
// Refused are volumes of other AWS services, App Mesh, FireLens and Windows.
base::Result<void> refuse_unsupported(const Registration& request);

// gpu_rules.cpp: what the containers ask. Refuses members that people write for GPUs elsewhere
// (gpu, gpus, gpuCount, count) showing the right shape, variables that mean to choose GPUs, and
// sharing where EXTERNAL is required.
base::Result<std::vector<model::GpuRequest>> gpu_requests_of(const Registration& request);
// Whether it is content with a part of a GPU.
bool shares_gpu(const model::GpuRequest& request);

// container_rules.cpp: one container by itself.
base::Result<void> check_container(const Container& container);

// environment_file_rules.cpp: where a container's variables come from, beside the definition.
base::Result<void> check_environment_files(const Container& container);
// "file:///etc/task.env": a file of the container instance.
bool is_host_file(std::string_view value);

// secret_rules.cpp: roles, and secrets, which are read with the execution role's key.
base::Result<void> check_roles(const Registration& request);
base::Result<void> check_secrets(const Registration& request, const Container& container);

// resource_rules.cpp: cpu and memory, of each container and against the task's.
base::Result<void> check_resources(const Registration& request);

// linux_rules.cpp: linuxParameters, ulimits, systemControls and dockerSecurityOptions.
base::Result<void> check_linux(const Registration& request, const Container& container);

// log_rules.cpp.
base::Result<void> check_log_configuration(const Container& container);

// network_rules.cpp: portMappings, links and hostnames against the network mode.
base::Result<void> check_network(const Registration& request);

// volume_rules.cpp: volumes, mountPoints and volumesFrom.
base::Result<void> check_volumes(const Registration& request);

// dependency_rules.cpp: dependsOn; with links and volumesFrom it makes no circle.
base::Result<void> check_dependencies(const Registration& request);

// nullptr: the task has no container of that name.
const Container* find_container(const Registration& request, std::string_view name);

// "name:alias" of a link, or just the name.
std::string_view linked_container(std::string_view link);

// AWS begins so whatever is wrong within one container; `why` is a sentence.
inline std::unexpected<base::Error> invalid_setting(const Container& container,
                                                    std::string_view why) {
  return client_error(
      base::format("Invalid setting for container '{}'. {}", container.name.value_or(""), why));
}

}  // namespace control
