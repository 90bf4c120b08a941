#include <algorithm>
#include <array>

#include "control/autoscaling/actions/actions.h"

namespace control::autoscaling {
namespace {

// Sorted by name.
constexpr std::array actions{
    Action{"CreateAutoScalingGroup", adapted<create_auto_scaling_group>},
    Action{"CreateLaunchConfiguration", adapted<create_launch_configuration>},
    Action{"CreateOrUpdateTags", adapted<create_or_update_tags>},
    Action{"DeleteAutoScalingGroup", adapted<delete_auto_scaling_group>},
    Action{"DeleteLaunchConfiguration", adapted<delete_launch_configuration>},
    Action{"DeleteTags", adapted<delete_tags>},
    Action{"DescribeAutoScalingGroups", adapted<describe_auto_scaling_groups>},
    Action{"DescribeAutoScalingInstances", adapted<describe_auto_scaling_instances>},
    Action{"DescribeLaunchConfigurations", adapted<describe_launch_configurations>},
    Action{"DescribeLifecycleHooks", adapted<describe_lifecycle_hooks>},
    Action{"DescribeLoadBalancerTargetGroups", adapted<describe_load_balancer_target_groups>},
    Action{"DescribeLoadBalancers", adapted<describe_load_balancers>},
    Action{"DescribeScalingActivities", adapted<describe_scaling_activities>},
    Action{"DescribeTags", adapted<describe_tags>},
    Action{"DescribeTrafficSources", adapted<describe_traffic_sources>},
    Action{"DescribeWarmPool", adapted<describe_warm_pool>},
    Action{"SetDesiredCapacity", adapted<set_desired_capacity>},
    Action{"SetInstanceProtection", adapted<set_instance_protection>},
    Action{"TerminateInstanceInAutoScalingGroup",
           adapted<terminate_instance_in_auto_scaling_group>},
    Action{"UpdateAutoScalingGroup", adapted<update_auto_scaling_group>},
};
static_assert(std::ranges::is_sorted(actions, {}, &Action::operation));

}  // namespace

std::span<const Action> operations() {
  return actions;
}

}  // namespace control::autoscaling
