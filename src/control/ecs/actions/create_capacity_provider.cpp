#include <algorithm>

#include "base/format.h"
#include "control/capacity/groups/machines.h"
#include "control/capacity/providers.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"
#include "control/request/plain_name.h"
#include "control/request/tags.h"

namespace control::ecs {
namespace {

bool begins_with(std::string_view name, std::string_view prefix) {
  return name.size() >= prefix.size() &&
         std::ranges::equal(name.substr(0, prefix.size()), prefix,
                            [](char a, char b) { return (a | 0x20) == (b | 0x20); });
}

base::Result<void> check_provider_name(const std::string& name) {
  if (!is_plain_name(name)) {
    return invalid_parameter(base::format(
        "name is \"{}\"; it must have 1 to 255 letters, digits, hyphens and underscores.", name));
  }
  for (const std::string_view prefix : {"aws", "ecs", "fargate"}) {
    if (begins_with(name, prefix)) {
      return invalid_parameter(base::format(
          "The specified capacity provider name is invalid: {} begins with \"{}\", which is kept "
          "for built-in ones.",
          name, prefix));
    }
  }
  if (name.starts_with("BERTH_")) {
    return invalid_parameter(base::format(
        "The specified capacity provider name is invalid: {} begins with \"BERTH_\", which is kept "
        "for built-in ones.",
        name));
  }
  return {};
}

base::Result<void> check_kind(const api::ecs::CreateCapacityProviderRequest& request) {
  TRY_VOID(check_provider_kind(request.managed_instances_provider.has_value(),
                               request.auto_scaling_group_provider.has_value()));
  if (request.cluster && !request.cluster->empty()) {
    return invalid_parameter(
        "cluster is for a managedInstancesProvider; associate this capacity provider with clusters "
        "by PutClusterCapacityProviders.");
  }
  return {};
}

// By its ARN or its name; nullptr: there is none.
const model::AutoScalingGroup* find_group(const Step& step, std::string_view arn_or_name) {
  const auto& groups = step.state().auto_scaling_groups;
  if (!arn_or_name.starts_with("arn:")) {
    const auto named = groups.find(arn_or_name);
    return named == groups.end() ? nullptr : &named->second;
  }
  const auto found = std::ranges::find_if(groups, [&](const auto& entry) {
    return model::auto_scaling_group_arn(step.settings.account, entry.second.id, entry.first) ==
           arn_or_name;
  });
  return found == groups.end() ? nullptr : &found->second;
}

// A group has one capacity provider at most.
base::Result<void> check_unused(const Step& step, const std::string& name,
                                const model::AutoScalingGroup& group) {
  if (step.state().capacity_providers.contains(name)) {
    return client_error(base::format(
        "The specified capacity provider already exists: {}. To change its configuration, update "
        "the capacity provider.",
        name));
  }
  const model::CapacityProvider* const other = provider_of_group(step.state(), group);
  if (other == nullptr) return {};
  return client_error(base::format(
      "The specified Auto Scaling group ARN is already being used by another capacity provider, "
      "{}. Specify a unique Auto Scaling group ARN.",
      other->name));
}

}  // namespace

Answer<api::ecs::CreateCapacityProviderResponse> create_capacity_provider(
    Step& step, const api::ecs::CreateCapacityProviderRequest& request) {
  TRY_VOID(check_kind(request));
  model::CapacityProvider made;
  made.name = request.name.value_or("");
  TRY_VOID(check_provider_name(made.name));
  made.created_at = step.now;
  made.tags = request.tags;
  TRY_VOID(check_tags(made.tags, "capacity provider"));
  const api::ecs::AutoScalingGroupProvider& asked = *request.auto_scaling_group_provider;
  const model::AutoScalingGroup* const group =
      find_group(step, asked.auto_scaling_group_arn.value_or(""));
  if (group == nullptr) {
    return client_error(base::format(
        "The specified Auto Scaling group ARN is invalid: there is no Auto Scaling group {}.",
        asked.auto_scaling_group_arn.value_or("\"\"")));
  }
  TRY_VOID(check_unused(step, made.name, *group));
  made.group.auto_scaling_group_arn =
      model::auto_scaling_group_arn(step.settings.account, group->id, group->name);
  made.group.managed_scaling = TRY(managed_scaling_of(asked.managed_scaling, std::nullopt));
  made.group.managed_termination_protection = asked.managed_termination_protection.value_or(
      api::ecs::ManagedTerminationProtection::Disabled);
  made.group.managed_draining = asked.managed_draining.value_or(api::ecs::ManagedDraining::Enabled);
  TRY_VOID(check_termination_protection(made.group, *group));
  const model::AutoScalingGroup of = *group;
  const std::string name = made.name;
  step.change(model::CapacityProviderPut{std::move(made)});
  give_instances(step, of, name);
  api::ecs::CreateCapacityProviderResponse response;
  response.capacity_provider =
      describe_provider(step, step.state().capacity_providers.at(name), true);
  return response;
}

}  // namespace control::ecs
