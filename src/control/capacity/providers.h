// The capacity providers that clients may name: those over Auto Scaling groups, which they make,
// and the built-in ones. Source: ECS API reference, CapacityProvider, CreateCapacityProvider,
// UpdateCapacityProvider.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/state.h"

namespace control {

// "FARGATE" and "FARGATE_SPOT": described, since clients look for them, and not to be used.
bool is_fargate(std::string_view name);
// What whoever wants to use them is told.
base::Error fargate_not_offered(std::string_view name);

// The name out of a name or an ARN; an ARN that is none of ours is taken as the name.
std::string provider_name(const Step& step, std::string_view text);

// One over an Auto Scaling group. `member`: of the request, for the sentence.
// Errors: InvalidParameterException where there is none; ClientException for a built-in one, which
// cannot be altered.
base::Result<const model::CapacityProvider*> require_provider(const Step& step,
                                                              std::string_view member,
                                                              std::string_view text);

// Of a request that makes or alters one: which kinds it gives settings of.
// Errors: ClientException, InvalidParameterException, unless it is an Auto Scaling group alone.
base::Result<void> check_provider_kind(bool managed_instances, bool auto_scaling_group);

// The settings with `given` put over `before`, and the defaults filled in.
// Errors: InvalidParameterException naming the member.
base::Result<api::ecs::ManagedScaling> managed_scaling_of(
    const std::optional<api::ecs::ManagedScaling>& given,
    const std::optional<api::ecs::ManagedScaling>& before);

// managedTerminationProtection ENABLED needs managed scaling, and a group that protects its new
// instances from scale-in. Errors: ClientException, InvalidParameterException.
base::Result<void> check_termination_protection(const api::ecs::AutoScalingGroupProvider& provider,
                                                const model::AutoScalingGroup& group);

api::ecs::CapacityProvider describe_provider(const Step& step,
                                             const model::CapacityProvider& provider,
                                             bool include_tags);
// Of FARGATE, FARGATE_SPOT and BERTH_QUEUE; nullopt for another name.
std::optional<api::ecs::CapacityProvider> describe_built_in(const Step& step,
                                                            std::string_view name);

// The container instances of the group's machines are the capacity provider's from now on; an empty
// name gives them back to the queues of their clusters.
void give_instances(Step& step, const model::AutoScalingGroup& group, const std::string& provider);

}  // namespace control
