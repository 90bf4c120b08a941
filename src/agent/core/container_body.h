// From a task's payload to the body of Docker's create request.
#pragma once

#include <optional>
#include <string>

#include "agent/core/config.h"
#include "agent/core/runtime.h"
#include "agent/core/task.h"
#include "base/result.h"
#include "json/value.h"

namespace agent::core {

// What the agent computes itself, with the payload's dockerConfig.config and .hostConfig merged
// over it (objects are merged, everything else is replaced), and then what nobody may change: the
// labels, the GPUs, the log driver where the agent ships the output itself.
// A container without GPUs never asks for any: NVIDIA_VISIBLE_DEVICES is "void" where it or its
// image sets it, and a runtime, device requests and NVIDIA device nodes are not taken over.
// Errors: DockerClientConfigError.
base::Result<CreateContainer> create_request(const Config& config, const Task& task, size_t index);

// MiB; 0: none. A task-level limit bounds a container that has none of its own.
int64_t memory_limit(const acs::Task& task, const acs::Container& container);

// The names of the log options that came from secretOptions, with commas between them, so that
// their values can be kept out of what Docker says of the container, by whichever process hears it.
inline constexpr std::string_view secret_log_options_label = "berth.secret-log-options";

// "ecs-<family>-<version>-<container>-<20 hex>" in letters that Docker takes.
std::string docker_name(const acs::Task& task, std::string_view container, std::string_view hex20);

// Where the agent ships the output to; nullopt when the log driver is not awslogs.
std::optional<ShipLogs> log_shipping(const Config& config, const Task& task, size_t index);

// An absent hostConfig is an empty object. Errors: DockerClientConfigError.
base::Result<json::Value> parse_docker_part(const std::string& text, std::string_view which);

}  // namespace agent::core
