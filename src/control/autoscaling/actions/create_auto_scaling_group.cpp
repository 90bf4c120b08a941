#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/group_settings.h"
#include "control/autoscaling/group_tags.h"
#include "control/request/echo.h"

namespace control::autoscaling {
namespace {

base::Result<void> check_name(const Step& step, const std::string& name) {
  if (name.find_first_of(":/") != std::string::npos) {
    return validation_error(base::format(
        "AutoScalingGroupName is \"{}\"; a name has neither a colon nor a slash.", name));
  }
  const auto existing = step.state().auto_scaling_groups.find(name);
  if (existing == step.state().auto_scaling_groups.end()) return {};
  return already_exists(base::format(
      "AutoScalingGroup by this name already exists - A group with the name {} already exists{}",
      name, existing->second.deleting ? " and is pending deletion" : ""));
}

base::Result<void> refuse_unsupported_source(
    const api::autoscaling::CreateAutoScalingGroupType& request) {
  const bool balanced = !request.load_balancer_names.empty() ||
                        !request.target_group_arns.empty() || !request.traffic_sources.empty();
  if (balanced) {
    return validation_error(
        "LoadBalancerNames, TargetGroupARNs and TrafficSources are not offered: Berth has no load "
        "balancers. Leave them out.");
  }
  if (!request.lifecycle_hook_specification_list.empty()) {
    return validation_error("LifecycleHookSpecificationList is not offered. Leave it out.");
  }
  if (request.instance_id) {
    return validation_error(
        "InstanceId is not offered: name a launch configuration or a launch template.");
  }
  if (!request.launch_configuration_name && !request.launch_template &&
      !request.mixed_instances_policy) {
    return validation_error(
        "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or "
        "MixedInstancesPolicy parameter.");
  }
  return {};
}

}  // namespace

Answer<api::autoscaling::CreateAutoScalingGroupResponse> create_auto_scaling_group(
    Step& step, const api::autoscaling::CreateAutoScalingGroupType& request) {
  model::AutoScalingGroup group;
  group.name = request.auto_scaling_group_name.value_or("");
  TRY_VOID(check_name(step, group.name));
  TRY_VOID(refuse_unsupported_source(request));
  api::autoscaling::UpdateAutoScalingGroupType settings;
  copy_members(request, settings);
  TRY_VOID(take_settings(step, settings, group));
  for (const api::autoscaling::Tag& tag : request.tags) {
    if (tag.resource_id.value_or(group.name) != group.name) {
      return validation_error(base::format("The tag {} is for the resource {}, not for {}.",
                                           tag.key.value_or(""), *tag.resource_id, group.name));
    }
  }
  TRY_VOID(put_group_tags(request.tags, group.tags));
  group.id = step.random.uuid();
  group.created_at = step.now;
  step.change(model::AutoScalingGroupPut{std::move(group)});
  return api::autoscaling::CreateAutoScalingGroupResponse{};
}

}  // namespace control::autoscaling
