// From a valid registration to the definition that DescribeTaskDefinition answers.
#pragma once

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control {

// The request's members with the defaults that AWS fills in (cpu 0, essential true, hostPort, empty
// lists), task-level cpu and memory as plain numbers, compatibilities and requiresAttributes.
// All else stands as it was registered, so that a client which compares finds no difference.
// Revision, ARN, status and registration are the caller's to set.
// Errors: those of validate_task_definition(), which comes first.
base::Result<api::ecs::TaskDefinition> complete_task_definition(
    const api::ecs::RegisterTaskDefinitionRequest& request);

}  // namespace control
