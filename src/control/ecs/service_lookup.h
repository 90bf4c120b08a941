// From what a client calls a service, or a thing of a service, to the thing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/step/step.h"
#include "model/service.h"

namespace control::ecs {

// A service by name or ARN; nullptr when the cluster has none. INACTIVE ones are found, too.
const model::Service* find_service(const Step& step, const model::ClusterName& cluster,
                                   std::string_view service);
// One that is not INACTIVE. Errors: ServiceNotFoundException.
base::Result<const model::Service*> require_service(const Step& step,
                                                    const model::ClusterName& cluster,
                                                    const std::optional<std::string>& service);
// Errors: also ServiceNotActiveException.
base::Result<const model::Service*> require_active_service(
    const Step& step, const model::ClusterName& cluster, const std::optional<std::string>& service);

// A service whose deployments its client makes, and one of its task sets by id or ARN.
// Errors: InvalidParameterException for another controller; TaskSetNotFoundException.
base::Result<void> require_external(const model::Service& service);
base::Result<const model::TaskSet*> require_task_set(const model::Service& service,
                                                     const std::optional<std::string>& task_set);

// A service deployment by its ARN. Errors: ServiceDeploymentNotFoundException,
// InvalidParameterException.
base::Result<const model::ServiceDeployment*> require_service_deployment(
    const Step& step, const std::optional<std::string>& arn);

}  // namespace control::ecs
