// What the account sets for all its clusters and tasks. Berth's account has one principal, its root
// user, so that a setting of that user and the account's default are the same thing.
// Source: ECS API reference, PutAccountSetting.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/step/step.h"

namespace control::ecs {

// What `name` is, put or not; "" where it means nothing here.
std::string effective_setting(const model::ClusterState& state, api::ecs::SettingName name);

// All that there are, by their names on the wire.
std::map<std::string, api::ecs::SettingName, std::less<>> setting_names();

// The root user, by its ARN or by nothing. Errors: InvalidParameterException.
base::Result<void> check_principal(const Step& step, const std::optional<std::string>& principal);

// As ECS describes it.
api::ecs::Setting describe_setting(const Step& step, api::ecs::SettingName name, std::string value);

// Makes it so and describes it. Errors: InvalidParameterException saying what it can be, and why.
base::Result<api::ecs::Setting> put_setting(Step& step, api::ecs::SettingName name,
                                            const std::string& value);

}  // namespace control::ecs
