// What a service may be asked to be. Everything that Berth does not offer is refused by its name.
// Source: ECS API reference, CreateService, UpdateService, CreateTaskSet.
#pragma once

#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/service.h"

namespace control {

// 1 to 255 letters, digits, hyphens and underscores. Errors: InvalidParameterException.
base::Result<void> check_service_name(const std::string& name);

// "EC2", "EXTERNAL", or empty where none is named. Errors: ClientException.
base::Result<std::string> service_launch_type(const std::optional<api::ecs::LaunchType>& type);

// What the service's tasks go by: the launch type in it, or a capacity provider strategy. Where
// neither is given, the cluster's default strategy, which a DAEMON does not follow.
// Request: CreateServiceRequest or CreateTaskSetRequest.
// Errors: InvalidParameterException and ClientException naming what is wrong.
template <class Request>
base::Result<void> take_capacity(const Step& step, const model::Cluster& cluster,
                                 api::ecs::SchedulingStrategy scheduling, const Request& request,
                                 model::TaskSource& source);

// Clients send an empty one for tasks without an address of their own: that is none.
std::optional<api::ecs::NetworkConfiguration> named_network(
    const std::optional<api::ecs::NetworkConfiguration>& given);

// The members that lead to machinery which Berth does not have. Request: CreateServiceRequest,
// UpdateServiceRequest or CreateTaskSetRequest. Errors: ClientException naming the member.
template <class Request>
base::Result<void> check_offered(const Request& request);

// The configuration with `given` put over `before` and the defaults of its scheduling filled in.
// Errors: InvalidParameterException; ClientException for what is not offered.
base::Result<api::ecs::DeploymentConfiguration> deployment_configuration_of(
    const std::optional<api::ecs::DeploymentConfiguration>& given,
    const api::ecs::DeploymentConfiguration& before, api::ecs::SchedulingStrategy scheduling);

// The service as a whole, with its task definition: its tasks can be planned. Errors: as of
// RunTask.
base::Result<void> check_service(const Step& step, const model::Service& service);

}  // namespace control
