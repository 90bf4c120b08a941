#include "model/records_capacity.h"

#include "api/describe.h"
#include "api/json.h"
#include "model/print_record.h"

namespace model {

API_DESCRIBE(CapacityProvider, API_MEMBER(name, "name"), API_MEMBER(status, "status"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(group, "autoScalingGroupProvider"),
             API_MEMBER(update_status, "updateStatus"),
             API_MEMBER(update_status_reason, "updateStatusReason"), API_MEMBER(tags, "tags"));
API_DESCRIBE(WaitingTask, API_MEMBER(constraints, "placementConstraints"),
             API_MEMBER(strategies, "placementStrategy"));

API_DESCRIBE_ENUM(MachineState, {MachineState::Wanted, "WANTED"},
                  {MachineState::Pending, "PENDING"}, {MachineState::InService, "IN_SERVICE"},
                  {MachineState::Terminating, "TERMINATING"});
API_DESCRIBE(Machine, API_MEMBER(token, "token"), API_MEMBER(id, "id"),
             API_MEMBER(instance_type, "instanceType"),
             API_MEMBER(availability_zone, "availabilityZone"),
             API_MEMBER(launch_name, "launchName"), API_MEMBER(launch_version, "launchVersion"),
             API_MEMBER(state, "state"), API_MEMBER(scale_in_protected, "scaleInProtected"),
             API_MEMBER(healthy, "healthy"), API_MEMBER(changed_at, "changedAt"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(reason, "reason"));
API_DESCRIBE(GroupTag, API_MEMBER(key, "key"), API_MEMBER(value, "value"),
             API_MEMBER(propagate_at_launch, "propagateAtLaunch"));
API_DESCRIBE(AutoScalingGroup, API_MEMBER(name, "name"), API_MEMBER(id, "id"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(min_size, "minSize"),
             API_MEMBER(max_size, "maxSize"), API_MEMBER(desired_capacity, "desiredCapacity"),
             API_MEMBER(default_cooldown_s, "defaultCooldown"),
             API_MEMBER(health_check_grace_s, "healthCheckGracePeriod"),
             API_MEMBER(health_check_type, "healthCheckType"),
             API_MEMBER(launch_configuration, "launchConfiguration"),
             API_MEMBER(launch_template, "launchTemplate"),
             API_MEMBER(launch_template_version, "launchTemplateVersion"),
             API_MEMBER(instance_type, "instanceType"),
             API_MEMBER(availability_zones, "availabilityZones"), API_MEMBER(subnets, "subnets"),
             API_MEMBER(termination_policies, "terminationPolicies"),
             API_MEMBER(new_machines_protected, "newMachinesProtected"),
             API_MEMBER(deleting, "deleting"), API_MEMBER(tags, "tags"),
             API_MEMBER(machines, "machines"), API_MEMBER(launch_not_before, "launchNotBefore"),
             API_MEMBER(launch_failures, "launchFailures"), API_MEMBER(points_below, "pointsBelow"),
             API_MEMBER(echoed, "echoed"));
API_DESCRIBE(ScalingActivity, API_MEMBER(id, "id"), API_MEMBER(group, "group"),
             API_MEMBER(started_at, "startedAt"), API_MEMBER(ended_at, "endedAt"),
             API_MEMBER(status, "status"), API_MEMBER(status_message, "statusMessage"),
             API_MEMBER(description, "description"), API_MEMBER(cause, "cause"));
API_DESCRIBE(ScalingActivities, API_MEMBER(group, "group"), API_MEMBER(activities, "activities"));
API_DESCRIBE(LaunchConfiguration, API_MEMBER(name, "name"), API_MEMBER(id, "id"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(instance_type, "instanceType"),
             API_MEMBER(user_data, "userData"), API_MEMBER(echoed, "echoed"));
API_DESCRIBE(LaunchTemplateVersion, API_MEMBER(number, "number"),
             API_MEMBER(description, "description"), API_MEMBER(created_at, "createdAt"),
             API_MEMBER(instance_type, "instanceType"), API_MEMBER(user_data, "userData"),
             API_MEMBER(data, "data"), API_MEMBER(client_token, "clientToken"),
             API_MEMBER(request_hash, "requestHash"));
API_DESCRIBE(LaunchTemplate, API_MEMBER(id, "id"), API_MEMBER(name, "name"),
             API_MEMBER(created_at, "createdAt"), API_MEMBER(client_token, "clientToken"),
             API_MEMBER(request_hash, "requestHash"), API_MEMBER(default_version, "defaultVersion"),
             API_MEMBER(latest_version, "latestVersion"), API_MEMBER(versions, "versions"),
             API_MEMBER(tags, "tags"));

namespace {

constexpr std::string_view provider_prefix = "capacity-provider/";
constexpr std::string_view group_prefix = "auto-scaling-group/";
constexpr std::string_view activities_prefix = "scaling-activities/";
constexpr std::string_view configuration_prefix = "launch-configuration/";
constexpr std::string_view template_prefix = "launch-template/";

std::string joined(std::string_view prefix, std::string_view name) {
  return std::string(prefix) + std::string(name);
}

template <class Record, class Records>
base::Result<bool> load_by_name(Records& records, const std::string Record::* name,
                                std::string_view value) {
  Record record = TRY(api::parse<Record>(value));
  std::string key = record.*name;
  records.emplace(std::move(key), std::move(record));
  return true;
}

}  // namespace

std::string capacity_key_of(const CapacityProviderPut& change) {
  return joined(provider_prefix, change.provider.name);
}
std::string capacity_key_of(const CapacityProviderForgotten& change) {
  return joined(provider_prefix, change.name);
}
std::string capacity_key_of(const CapacityProviderName& name) {
  return joined(provider_prefix, name.str());
}
std::string capacity_key_of(const AutoScalingGroupPut& change) {
  return joined(group_prefix, change.group.name);
}
std::string capacity_key_of(const AutoScalingGroupForgotten& change) {
  return joined(group_prefix, change.name);
}
std::string capacity_key_of(const ScalingActivityPut& change) {
  return scaling_activities_key(change.activity.group);
}
std::string capacity_key_of(const LaunchConfigurationPut& change) {
  return joined(configuration_prefix, change.configuration.name);
}
std::string capacity_key_of(const LaunchConfigurationForgotten& change) {
  return joined(configuration_prefix, change.name);
}
std::string capacity_key_of(const LaunchTemplatePut& change) {
  return joined(template_prefix, change.launch_template.id);
}
std::string capacity_key_of(const LaunchTemplateForgotten& change) {
  return joined(template_prefix, change.id);
}
std::string scaling_activities_key(std::string_view group) {
  return joined(activities_prefix, group);
}

std::optional<std::optional<std::string>> encode_of_capacity(const ClusterState& state,
                                                             std::string_view key) {
  const auto name = key.substr(key.find('/') + 1);
  if (key.starts_with(provider_prefix)) return print_record(state.capacity_providers, name);
  if (key.starts_with(group_prefix)) return print_record(state.auto_scaling_groups, name);
  if (key.starts_with(activities_prefix)) return print_record(state.scaling_activities, name);
  if (key.starts_with(configuration_prefix)) return print_record(state.launch_configurations, name);
  if (key.starts_with(template_prefix)) return print_record(state.launch_templates, name);
  return std::nullopt;
}

base::Result<bool> load_of_capacity(ClusterState& state, std::string_view key,
                                    std::string_view value) {
  if (key.starts_with(provider_prefix)) {
    return load_by_name(state.capacity_providers, &CapacityProvider::name, value);
  }
  if (key.starts_with(group_prefix)) {
    return load_by_name(state.auto_scaling_groups, &AutoScalingGroup::name, value);
  }
  if (key.starts_with(activities_prefix)) {
    return load_by_name(state.scaling_activities, &ScalingActivities::group, value);
  }
  if (key.starts_with(configuration_prefix)) {
    return load_by_name(state.launch_configurations, &LaunchConfiguration::name, value);
  }
  if (key.starts_with(template_prefix)) {
    return load_by_name(state.launch_templates, &LaunchTemplate::id, value);
  }
  return false;
}

}  // namespace model
