// What clients ask of a group that no group of Berth has. The operations that would make such a
// thing are not offered, so the answers are empty.
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {

Answer<api::autoscaling::DescribeLifecycleHooksAnswer> describe_lifecycle_hooks(
    Step& step, const api::autoscaling::DescribeLifecycleHooksType& request) {
  TRY_VOID(require_group(step, request.auto_scaling_group_name));
  api::autoscaling::DescribeLifecycleHooksAnswer response;
  response.lifecycle_hooks.set_present();
  return response;
}

Answer<api::autoscaling::DescribeLoadBalancersResponse> describe_load_balancers(
    Step& step, const api::autoscaling::DescribeLoadBalancersRequest& request) {
  TRY_VOID(require_group(step, request.auto_scaling_group_name));
  api::autoscaling::DescribeLoadBalancersResponse response;
  response.load_balancers.set_present();
  return response;
}

Answer<api::autoscaling::DescribeLoadBalancerTargetGroupsResponse>
describe_load_balancer_target_groups(
    Step& step, const api::autoscaling::DescribeLoadBalancerTargetGroupsRequest& request) {
  TRY_VOID(require_group(step, request.auto_scaling_group_name));
  api::autoscaling::DescribeLoadBalancerTargetGroupsResponse response;
  response.load_balancer_target_groups.set_present();
  return response;
}

Answer<api::autoscaling::DescribeTrafficSourcesResponse> describe_traffic_sources(
    Step& step, const api::autoscaling::DescribeTrafficSourcesRequest& request) {
  TRY_VOID(require_group(step, request.auto_scaling_group_name));
  api::autoscaling::DescribeTrafficSourcesResponse response;
  response.traffic_sources.set_present();
  return response;
}

Answer<api::autoscaling::DescribeWarmPoolAnswer> describe_warm_pool(
    Step& step, const api::autoscaling::DescribeWarmPoolType& request) {
  TRY_VOID(require_group(step, request.auto_scaling_group_name));
  api::autoscaling::DescribeWarmPoolAnswer response;
  response.instances.set_present();
  return response;
}

}  // namespace control::autoscaling
