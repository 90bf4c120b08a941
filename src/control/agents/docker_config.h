// A container definition's settings in the words of Docker's API.
#pragma once

#include <string>

#include "api/generated/ecs.h"
#include "json/value.h"

namespace control {

// The part of Docker's create request outside of HostConfig: User, Labels, Healthcheck...
json::Value docker_config(const api::ecs::ContainerDefinition& container);
// Docker's HostConfig: NetworkMode, LogConfig, CapAdd, Ulimits...
// `memory_reservation_mib` is 0 where there is none.
json::Value docker_host_config(const api::ecs::TaskDefinition& task,
                               const api::ecs::ContainerDefinition& container,
                               int64_t memory_reservation_mib);

}  // namespace control
