// What a cluster is given beside its name and its capacity providers. All of it is told back; what
// would promise more than that is refused by name.
// Source: ECS API reference, CreateCluster, UpdateCluster, UpdateClusterSettings.
#pragma once

#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"

namespace control::ecs {

// containerInsights is "enabled", "disabled" or "enhanced". Errors: InvalidParameterException.
base::Result<void> check_cluster_settings(const api::List<api::ecs::ClusterSetting>& settings);

// Errors: ClientException for what would encrypt with AWS KMS or log to Amazon S3,
// InvalidParameterException for members that contradict each other and for the logging OVERRIDE
// without a log group.
base::Result<void> check_cluster_configuration(
    const std::optional<api::ecs::ClusterConfiguration>& configuration);

// The name or ARN of serviceConnectDefaults; empty: none, or none any more. What it would be the
// default of, serviceConnectConfiguration, is refused by services. Errors:
// InvalidParameterException.
base::Result<std::string> service_connect_namespace(
    const std::optional<api::ecs::ClusterServiceConnectDefaultsRequest>& defaults);

}  // namespace control::ecs
