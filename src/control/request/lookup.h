// From what a client calls a thing (a name, an id, an ARN) to the thing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

// The cluster's name out of a name or an ARN; "default" when nothing is given. An ARN of another
// region or account names no cluster of ours: nullopt.
std::optional<model::ClusterName> cluster_name(const Step& step,
                                               const std::optional<std::string>& cluster);

// An ACTIVE cluster. Errors: ClusterNotFoundException.
base::Result<const model::Cluster*> require_cluster(const Step& step,
                                                    const std::optional<std::string>& cluster);

// A task by id or ARN; nullptr when the cluster has none.
const model::Task* find_task(const Step& step, const model::ClusterName& cluster,
                             std::string_view task);
// Errors: InvalidParameterException, "The referenced task was not found."
base::Result<const model::Task*> require_task(const Step& step, const model::ClusterName& cluster,
                                              std::string_view task);

// A container instance by id or ARN; nullptr when the cluster has none.
const model::ContainerInstance* find_instance(const Step& step, const model::ClusterName& cluster,
                                              std::string_view instance);
// Errors: InvalidParameterException.
base::Result<const model::ContainerInstance*> require_instance(const Step& step,
                                                               const model::ClusterName& cluster,
                                                               std::string_view instance);

// "family", "family:revision" or an ARN; without a revision the newest ACTIVE one. nullptr: there
// is none.
const model::TaskDefinition* find_task_definition(const Step& step, std::string_view name);
// For what concerns the definition alone. Errors: ClientException, "Unable to describe task
// definition."
base::Result<const model::TaskDefinition*> require_task_definition(const Step& step,
                                                                   std::string_view name);
// For what makes tasks of it. Errors: ClientException, "TaskDefinition not found."
base::Result<const model::TaskDefinition*> require_definition_to_run(const Step& step,
                                                                     std::string_view name);
// The same, and ACTIVE. Errors: also ClientException, "TaskDefinition is inactive".
base::Result<const model::TaskDefinition*> require_active_task_definition(const Step& step,
                                                                          std::string_view name);

// A restricted key acts on its own cluster, and once it has registered only as its own instance.
// `cluster` is a name; `instance` an ARN, or empty where the operation names none.
// Errors: AccessDeniedException.
base::Result<void> allow(const Step& step, std::string_view operation,
                         const model::ClusterName& cluster, std::string_view instance = {});

}  // namespace control
