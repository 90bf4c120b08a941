// The network mode awsvpc without a VPC: a task has a network of its own on its container instance,
// with an address on a bridge there, shown as the elastic network interface that clients expect.
#pragma once

#include <optional>
#include <string>

#include "acs/payload.h"
#include "api/generated/ecs.h"
#include "base/result.h"
#include "model/state.h"

namespace control {

// What RunTask and StartTask say of the network against the definition's mode. Subnets are shown
// again and change nothing. Errors: InvalidParameterException; ClientException for what Berth does
// not honour (securityGroups, a public address).
base::Result<void> check_network_configuration(
    const api::ecs::TaskDefinition& definition,
    const std::optional<api::ecs::NetworkConfiguration>& given);
// The first subnet; empty without one.
std::string subnet_of(const std::optional<api::ecs::NetworkConfiguration>& given);

bool has_task_network(const model::TaskDefinition* definition);

// The interface as the agent is to make it. Its ids and its MAC address follow from the task's id.
acs::ElasticNetworkInterface network_interface(const model::Task& task);

// The attachment, and each container's networkInterfaces. The address is the bindIP of what the
// agent told of the containers' networkBindings; those are not shown in this mode.
void add_network_interface(const model::Task& task, api::ecs::Task& made);

}  // namespace control
