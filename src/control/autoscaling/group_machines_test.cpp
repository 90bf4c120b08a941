// The machines of groups through the API.
#include "control/autoscaling/testing_api.h"

namespace control {
namespace {

using testing::ScalingPlane;
namespace as = api::autoscaling;

class GroupMachines : public ::testing::Test {
 protected:
  void SetUp() override {
    plane.create_configuration("lc");
    as::CreateAutoScalingGroupType request = ScalingPlane::group_request("g");
    request.min_size = 1;
    ASSERT_TRUE(plane.create(request));
    plane.create_cluster();
    for (const std::string name : {"0", "1"}) plane.register_instance("p3.2xlarge", name);
    plane.put_machines("g", 2);
  }

  base::Result<as::ActivityType> terminate(const std::string& id, bool decrement) {
    as::TerminateInstanceInAutoScalingGroupType request;
    request.instance_id = id;
    request.should_decrement_desired_capacity = decrement;
    return plane.scaling<as::ActivityType>("TerminateInstanceInAutoScalingGroup", request);
  }

  ScalingPlane plane;
};

TEST_F(GroupMachines, machines_are_instances_of_their_group) {
  const as::AutoScalingGroup told = plane.group("g");
  ASSERT_EQ(told.instances.size(), 2U);
  EXPECT_EQ(told.instances[0].instance_id, "i-0");
  EXPECT_EQ(told.instances[0].instance_type, "p3.2xlarge");
  EXPECT_EQ(told.instances[0].lifecycle_state, as::LifecycleState::InService);
  EXPECT_EQ(told.instances[0].health_status, "Healthy");
  EXPECT_EQ(told.instances[0].launch_configuration_name, "lc");
  as::DescribeAutoScalingInstancesType ask;
  ask.instance_ids = {"i-1", "i-absent"};
  const auto details =
      plane.scaling<as::AutoScalingInstancesType>("DescribeAutoScalingInstances", ask);
  ASSERT_TRUE(details);
  ASSERT_EQ(details->auto_scaling_instances.size(), 1U);
  EXPECT_EQ(details->auto_scaling_instances[0].auto_scaling_group_name, "g");
  EXPECT_EQ(details->auto_scaling_instances[0].lifecycle_state, "InService");
  EXPECT_EQ(details->auto_scaling_instances[0].health_status, "HEALTHY");
}

TEST_F(GroupMachines,
       a_machine_is_terminated_and_not_replaced_when_the_capacity_goes_down_with_it) {
  const auto ended = terminate("i-0", true);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->activity->status_code, as::ScalingActivityStatusCode::InProgress);
  EXPECT_EQ(ended->activity->description, "Terminating EC2 instance: i-0");
  EXPECT_NE(ended->activity->cause->find("shrinking the capacity from 2 to 1"), std::string::npos);
  const as::AutoScalingGroup told = plane.group("g");
  EXPECT_EQ(told.desired_capacity, 1);
  EXPECT_EQ(told.instances[0].lifecycle_state, as::LifecycleState::Terminating);

  as::DescribeScalingActivitiesType ask;
  ask.auto_scaling_group_name = "g";
  const auto activities = plane.scaling<as::ActivitiesType>("DescribeScalingActivities", ask);
  ASSERT_TRUE(activities);
  const auto same = [&](const as::Activity& one) {
    return one.activity_id == ended->activity->activity_id;
  };
  EXPECT_EQ(std::ranges::count_if(activities->activities, same), 1);
  EXPECT_EQ(terminate("i-0", false).error().code, "ScalingActivityInProgressFault");
  EXPECT_NE(terminate("i-1", true).error().message.find("desired capacity equals min size (1)"),
            std::string::npos);
  EXPECT_EQ(terminate("i-absent", false).error().message,
            "Instance Id not found - No managed instance found for instance ID: i-absent");
}

TEST_F(GroupMachines, without_that_the_capacity_stays) {
  ASSERT_TRUE(terminate("i-1", false));
  EXPECT_EQ(plane.group("g").desired_capacity, 2);
}

TEST_F(GroupMachines, protection_is_set_for_machines_of_the_group_alone) {
  as::SetInstanceProtectionQuery request;
  request.auto_scaling_group_name = "g";
  request.instance_ids = {"i-0"};
  request.protected_from_scale_in = true;
  ASSERT_TRUE(plane.scaling<as::SetInstanceProtectionAnswer>("SetInstanceProtection", request));
  EXPECT_EQ(plane.group("g").instances[0].protected_from_scale_in, true);
  EXPECT_EQ(plane.group("g").instances[1].protected_from_scale_in, false);
  request.instance_ids = {"i-1", "i-9"};
  const auto refused =
      plane.scaling<as::SetInstanceProtectionAnswer>("SetInstanceProtection", request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "The instance i-9 is not part of Auto Scaling group g.");
  EXPECT_EQ(plane.group("g").instances[1].protected_from_scale_in, false);
}

TEST_F(GroupMachines, a_change_that_honours_the_cool_down_waits_for_what_is_in_progress) {
  ASSERT_TRUE(terminate("i-0", false));
  as::SetDesiredCapacityType request;
  request.auto_scaling_group_name = "g";
  request.desired_capacity = 3;
  request.honor_cooldown = true;
  const auto refused = plane.scaling<as::SetDesiredCapacityResponse>("SetDesiredCapacity", request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "ScalingActivityInProgressFault");
  request.honor_cooldown = false;
  EXPECT_TRUE(plane.scaling<as::SetDesiredCapacityResponse>("SetDesiredCapacity", request));
}

TEST_F(GroupMachines, keys_of_roles_may_not_call_the_api) {
  plane.caller.access = auth::TaskAccess{};
  as::AutoScalingGroupNamesType request;
  const auto refused =
      plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups", request);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, "AccessDeniedException");
}

}  // namespace
}  // namespace control
