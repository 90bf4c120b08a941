#include <algorithm>

#include "model/apply.h"

namespace model {

void apply_one(ClusterState& state, const CapacityProviderPut& change) {
  state.capacity_providers[change.provider.name] = change.provider;
}

void apply_one(ClusterState& state, const CapacityProviderForgotten& change) {
  state.capacity_providers.erase(change.name);
}

void apply_one(ClusterState& state, const AutoScalingGroupPut& change) {
  state.auto_scaling_groups[change.group.name] = change.group;
}

void apply_one(ClusterState& state, const AutoScalingGroupForgotten& change) {
  state.auto_scaling_groups.erase(change.name);
  state.scaling_activities.erase(change.name);
}

void apply_one(ClusterState& state, const ScalingActivityPut& change) {
  ScalingActivities& kept = state.scaling_activities[change.activity.group];
  kept.group = change.activity.group;
  const auto same = std::ranges::find(kept.activities, change.activity.id, &ScalingActivity::id);
  if (same != kept.activities.end()) {
    *same = change.activity;
    return;
  }
  kept.activities.push_back(change.activity);
  if (kept.activities.size() > most_scaling_activities) {
    kept.activities.erase(kept.activities.begin());
  }
}

void apply_one(ClusterState& state, const LaunchConfigurationPut& change) {
  state.launch_configurations[change.configuration.name] = change.configuration;
}

void apply_one(ClusterState& state, const LaunchConfigurationForgotten& change) {
  state.launch_configurations.erase(change.name);
}

void apply_one(ClusterState& state, const LaunchTemplatePut& change) {
  state.launch_templates[change.launch_template.id] = change.launch_template;
}

void apply_one(ClusterState& state, const LaunchTemplateForgotten& change) {
  state.launch_templates.erase(change.id);
}

}  // namespace model
