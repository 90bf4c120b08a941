// The operations of Amazon EC2 Auto Scaling that the control plane answers. They keep records;
// machines are launched and ended by who reads those records (control/capacity/groups).
// Each one's contract is its page of the Auto Scaling API reference.
#pragma once

#include <string_view>

#include "api/generated/autoscaling.h"
#include "control/step/action.h"

namespace control::autoscaling {

// Groups
Answer<api::autoscaling::CreateAutoScalingGroupResponse> create_auto_scaling_group(
    Step&, const api::autoscaling::CreateAutoScalingGroupType&);
Answer<api::autoscaling::UpdateAutoScalingGroupResponse> update_auto_scaling_group(
    Step&, const api::autoscaling::UpdateAutoScalingGroupType&);
Answer<api::autoscaling::DeleteAutoScalingGroupResponse> delete_auto_scaling_group(
    Step&, const api::autoscaling::DeleteAutoScalingGroupType&);
Answer<api::autoscaling::AutoScalingGroupsType> describe_auto_scaling_groups(
    Step&, const api::autoscaling::AutoScalingGroupNamesType&);
Answer<api::autoscaling::SetDesiredCapacityResponse> set_desired_capacity(
    Step&, const api::autoscaling::SetDesiredCapacityType&);
Answer<api::autoscaling::ActivitiesType> describe_scaling_activities(
    Step&, const api::autoscaling::DescribeScalingActivitiesType&);

// Machines of groups
Answer<api::autoscaling::AutoScalingInstancesType> describe_auto_scaling_instances(
    Step&, const api::autoscaling::DescribeAutoScalingInstancesType&);
Answer<api::autoscaling::SetInstanceProtectionAnswer> set_instance_protection(
    Step&, const api::autoscaling::SetInstanceProtectionQuery&);
Answer<api::autoscaling::ActivityType> terminate_instance_in_auto_scaling_group(
    Step&, const api::autoscaling::TerminateInstanceInAutoScalingGroupType&);

// Launch configurations
Answer<api::autoscaling::CreateLaunchConfigurationResponse> create_launch_configuration(
    Step&, const api::autoscaling::CreateLaunchConfigurationType&);
Answer<api::autoscaling::LaunchConfigurationsType> describe_launch_configurations(
    Step&, const api::autoscaling::LaunchConfigurationNamesType&);
Answer<api::autoscaling::DeleteLaunchConfigurationResponse> delete_launch_configuration(
    Step&, const api::autoscaling::LaunchConfigurationNameType&);

// Tags
Answer<api::autoscaling::CreateOrUpdateTagsResponse> create_or_update_tags(
    Step&, const api::autoscaling::CreateOrUpdateTagsType&);
Answer<api::autoscaling::DeleteTagsResponse> delete_tags(Step&,
                                                         const api::autoscaling::DeleteTagsType&);
Answer<api::autoscaling::TagsType> describe_tags(Step&, const api::autoscaling::DescribeTagsType&);

// What groups of Berth do not have: the answers are empty, and the group has to be there.
Answer<api::autoscaling::DescribeLifecycleHooksAnswer> describe_lifecycle_hooks(
    Step&, const api::autoscaling::DescribeLifecycleHooksType&);
Answer<api::autoscaling::DescribeLoadBalancersResponse> describe_load_balancers(
    Step&, const api::autoscaling::DescribeLoadBalancersRequest&);
Answer<api::autoscaling::DescribeLoadBalancerTargetGroupsResponse>
describe_load_balancer_target_groups(
    Step&, const api::autoscaling::DescribeLoadBalancerTargetGroupsRequest&);
Answer<api::autoscaling::DescribeTrafficSourcesResponse> describe_traffic_sources(
    Step&, const api::autoscaling::DescribeTrafficSourcesRequest&);
Answer<api::autoscaling::DescribeWarmPoolAnswer> describe_warm_pool(
    Step&, const api::autoscaling::DescribeWarmPoolType&);

// Sorted by name.
std::span<const Action> operations();

}  // namespace control::autoscaling
