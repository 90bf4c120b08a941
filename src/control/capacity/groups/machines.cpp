#include "control/capacity/groups/machines.h"

#include <algorithm>

#include "base/format.h"
#include "base/text.h"

namespace control {
namespace {

// arn:aws:autoscaling:REGION:ACCOUNT:autoScalingGroup:ID:autoScalingGroupName/NAME, or the name.
std::string_view group_name_of(std::string_view arn_or_name) {
  constexpr std::string_view before_name = ":autoScalingGroupName/";
  const size_t at = arn_or_name.find(before_name);
  return at == std::string_view::npos ? arn_or_name : arn_or_name.substr(at + before_name.size());
}

// By its id, or by the name that a machine keeps.
const model::LaunchTemplate* find_template(const model::ClusterState& state,
                                           std::string_view id_or_name) {
  const auto by_id = state.launch_templates.find(id_or_name);
  if (by_id != state.launch_templates.end()) return &by_id->second;
  for (const auto& [id, one] : state.launch_templates) {
    if (one.name == id_or_name) return &one;
  }
  return nullptr;
}

const model::LaunchTemplateVersion* find_version(const model::LaunchTemplate& launch_template,
                                                 std::string_view version) {
  int64_t number = 0;
  if (version.empty() || version == "$Default") {
    number = launch_template.default_version;
  } else if (version == "$Latest") {
    number = launch_template.latest_version;
  } else {
    number = base::parse_number<int64_t>(version).value_or(0);
  }
  const auto found =
      std::ranges::find(launch_template.versions, number, &model::LaunchTemplateVersion::number);
  return found == launch_template.versions.end() ? nullptr : &*found;
}

}  // namespace

std::string provider_of_machine(const model::ClusterState& state, std::string_view machine_id) {
  if (machine_id.empty()) return {};
  for (const auto& [name, group] : state.auto_scaling_groups) {
    if (std::ranges::find(group.machines, machine_id, &model::Machine::id) ==
        group.machines.end()) {
      continue;
    }
    const model::CapacityProvider* const provider = provider_of_group(state, group);
    return provider == nullptr ? std::string() : provider->name;
  }
  return {};
}

const model::CapacityProvider* provider_of_group(const model::ClusterState& state,
                                                 const model::AutoScalingGroup& group) {
  for (const auto& [name, provider] : state.capacity_providers) {
    if (group_name_of(provider.group.auto_scaling_group_arn.value_or("")) == group.name &&
        provider.status == api::ecs::CapacityProviderStatus::Active) {
      return &provider;
    }
  }
  return nullptr;
}

const model::AutoScalingGroup* group_of_provider(const model::ClusterState& state,
                                                 const model::CapacityProvider& provider) {
  const auto found = state.auto_scaling_groups.find(
      group_name_of(provider.group.auto_scaling_group_arn.value_or("")));
  return found == state.auto_scaling_groups.end() ? nullptr : &found->second;
}

std::optional<LaunchSource> launch_source(const model::ClusterState& state,
                                          const model::AutoScalingGroup& group) {
  if (!group.launch_configuration.empty()) {
    const auto found = state.launch_configurations.find(group.launch_configuration);
    if (found == state.launch_configurations.end()) return std::nullopt;
    return LaunchSource{.name = found->second.name,
                        .version = {},
                        .instance_type = found->second.instance_type,
                        .user_data = found->second.user_data};
  }
  const model::LaunchTemplate* const found = find_template(state, group.launch_template);
  if (found == nullptr) return std::nullopt;
  const model::LaunchTemplateVersion* const version =
      find_version(*found, group.launch_template_version);
  if (version == nullptr) return std::nullopt;
  // A group may name a type of its own over the template's.
  const std::string& type =
      version->instance_type.empty() ? group.instance_type : version->instance_type;
  return LaunchSource{.name = found->name,
                      .version = base::format("{}", version->number),
                      .instance_type = type,
                      .user_data = version->user_data};
}

base::Time launch_source_made_at(const model::ClusterState& state, const model::Machine& machine) {
  if (machine.launch_version.empty()) {
    const auto found = state.launch_configurations.find(machine.launch_name);
    return found == state.launch_configurations.end() ? base::Time() : found->second.created_at;
  }
  const model::LaunchTemplate* const found = find_template(state, machine.launch_name);
  if (found == nullptr) return {};
  const model::LaunchTemplateVersion* const version = find_version(*found, machine.launch_version);
  return version == nullptr ? base::Time() : version->created_at;
}

}  // namespace control
