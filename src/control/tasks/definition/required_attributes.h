// The container instance attributes that a task definition's features need.
#pragma once

#include <vector>

#include "api/generated/ecs.h"
#include "model/resources.h"

namespace control {

// In the order of their names, each once. A name with a value is met only by that value.
// Only names that agents register are required: an image in ECR or an execution role asks nothing
// of an agent here. Sources: amazon-ecs-agent, agent/dockerclient/logging_drivers.go, for the
// Docker API version of each log driver; the ECS API reference ("requires version 1.18 of the
// Docker Remote API") and Docker's API history for the other versions.
api::List<api::ecs::Attribute> required_attributes(const api::ecs::TaskDefinition& definition,
                                                   const std::vector<model::GpuRequest>& gpus);

}  // namespace control
