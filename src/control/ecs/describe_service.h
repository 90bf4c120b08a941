// How services and what belongs to them look in the API's answers.
// Source: ECS API reference; of what is left out: Terraform's provider, which plans a change for
// members that differ from what it sent, and fails on an empty networkConfiguration.
#pragma once

#include "api/generated/ecs.h"
#include "control/step/step.h"
#include "model/service.h"

namespace control::ecs {

// Cost: O(tasks of the service).
api::ecs::Service describe_service(const Step& step, const model::Service& service,
                                   bool include_tags);
api::ecs::TaskSet describe_task_set(const Step& step, const model::Service& service,
                                    const model::TaskSet& set, bool include_tags);
api::ecs::ServiceDeployment describe_service_deployment(const Step& step,
                                                        const model::ServiceDeployment& deployment);
api::ecs::ServiceRevision describe_service_revision(const Step& step,
                                                    const model::ServiceRevision& revision);

}  // namespace control::ecs
