// The records of capacity: capacity providers, Auto Scaling groups and what machines are made from.
//   capacity-provider/<name>   auto-scaling-group/<name>   scaling-activities/<group>
//   launch-configuration/<name>   launch-template/<id>
// A part of records.h; nobody else includes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/change.h"

namespace model {

// The key of the record that the change writes.
std::string capacity_key_of(const CapacityProviderPut& change);
std::string capacity_key_of(const CapacityProviderForgotten& change);
std::string capacity_key_of(const CapacityProviderName& name);
std::string capacity_key_of(const AutoScalingGroupPut& change);
std::string capacity_key_of(const AutoScalingGroupForgotten& change);
std::string capacity_key_of(const ScalingActivityPut& change);
std::string capacity_key_of(const LaunchConfigurationPut& change);
std::string capacity_key_of(const LaunchConfigurationForgotten& change);
std::string capacity_key_of(const LaunchTemplatePut& change);
std::string capacity_key_of(const LaunchTemplateForgotten& change);
std::string scaling_activities_key(std::string_view group);

// The record of a key, nullopt inside: it is to be deleted; nullopt when the key is of another
// kind.
std::optional<std::optional<std::string>> encode_of_capacity(const ClusterState& state,
                                                             std::string_view key);
// False when the key is of another kind. Errors: what is wrong with the text.
base::Result<bool> load_of_capacity(ClusterState& state, std::string_view key,
                                    std::string_view value);

}  // namespace model
