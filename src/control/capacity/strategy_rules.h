// Which capacity provider strategy a call means, and whether it may.
// Source: ECS API reference, RunTask, CreateService, PutClusterCapacityProviders.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "control/capacity/strategy.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

inline constexpr size_t most_cluster_providers = 20;  // Source: ECS service quotas.

// The strategy with its defaults filled in: weight 0, base 0. Each capacity provider in it must be
// one of `associated`, or model::berth_queue, which every cluster has.
// Errors: InvalidParameterException naming the item; ClientException for FARGATE.
base::Result<Strategy> check_strategy(const Step& step, const Strategy& given,
                                      const std::vector<std::string>& associated);

// The strategy of a call's tasks: the one that it gives, or, where it gives neither a strategy nor
// a launch type, the cluster's default one. Empty: none, the tasks go by their launch type. Errors:
// as check_strategy(); InvalidParameterException where it gives both.
base::Result<Strategy> strategy_for(const Step& step, const model::Cluster& cluster,
                                    const Strategy& given, bool has_launch_type);

// The names of capacity providers that a cluster is to have.
// Errors: InvalidParameterException naming the one that does not exist; ClientException for
// FARGATE.
base::Result<std::vector<std::string>> check_cluster_providers(const Step& step,
                                                               const api::List<std::string>& given);

// Whether the strategy names the capacity provider.
bool names_provider(const Strategy& strategy, std::string_view provider);

}  // namespace control
