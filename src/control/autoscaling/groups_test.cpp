// Groups and launch configurations through the API.
#include "control/autoscaling/testing_api.h"

namespace control {
namespace {

using testing::ScalingPlane;
namespace as = api::autoscaling;

class Groups : public ::testing::Test {
 protected:
  void SetUp() override { plane.create_configuration("lc"); }

  base::Error refused(const as::CreateAutoScalingGroupType& request) {
    const size_t before = plane.changes.size();
    const auto result = plane.create(request);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(plane.changes.size(), before);
    return result ? base::Error{} : result.error();
  }
  base::Error refused(const as::UpdateAutoScalingGroupType& request) {
    const size_t before = plane.changes.size();
    const auto result = plane.update(request);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(plane.changes.size(), before);
    return result ? base::Error{} : result.error();
  }
  static as::UpdateAutoScalingGroupType update_of(const std::string& name) {
    as::UpdateAutoScalingGroupType request;
    request.auto_scaling_group_name = name;
    return request;
  }

  ScalingPlane plane;
};

TEST_F(Groups, a_group_is_told_back_with_the_defaults_of_aws) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  const as::AutoScalingGroup told = plane.group("g");
  EXPECT_TRUE(told.auto_scaling_group_arn->starts_with(
      "arn:aws:autoscaling:us-east-1:123456789012:autoScalingGroup:"));
  EXPECT_TRUE(told.auto_scaling_group_arn->ends_with(":autoScalingGroupName/g"));
  EXPECT_EQ(told.desired_capacity, 0);
  EXPECT_EQ(told.default_cooldown, 300);
  EXPECT_EQ(told.health_check_type, "EC2");
  EXPECT_EQ(told.health_check_grace_period, 0);
  EXPECT_EQ(told.termination_policies, (std::vector<std::string>{"Default"}));
  EXPECT_EQ(told.new_instances_protected_from_scale_in, false);
  EXPECT_EQ(told.created_time, testing::start_time);
  EXPECT_FALSE(told.launch_template.has_value());
  EXPECT_FALSE(told.status.has_value());
  EXPECT_EQ(plane.core.state().auto_scaling_groups.at("g").instance_type, "p3.2xlarge");
}

TEST_F(Groups, each_member_that_is_sent_is_told_back) {
  plane.create_template("lt");
  as::CreateAutoScalingGroupType sent = ScalingPlane::group_request("g");
  sent.launch_configuration_name.reset();
  sent.launch_template = as::LaunchTemplateSpecification{
      .launch_template_id = {}, .launch_template_name = "lt", .version = "$Latest"};
  sent.min_size = 1;
  sent.desired_capacity = 2;
  sent.default_cooldown = 11;
  sent.health_check_type = "ELB,EC2";
  sent.health_check_grace_period = 12;
  sent.placement_group = "pg";
  sent.vpc_zone_identifier = "subnet-1,subnet-2";
  sent.termination_policies = {"OldestInstance", "Default"};
  sent.new_instances_protected_from_scale_in = true;
  sent.capacity_rebalance = true;
  sent.service_linked_role_arn = "arn:aws:iam::123456789012:role/x";
  sent.max_instance_lifetime = 0;
  sent.context = "c";
  sent.desired_capacity_type = "units";
  sent.default_instance_warmup = 13;
  sent.instance_maintenance_policy =
      as::InstanceMaintenancePolicy{.min_healthy_percentage = 90, .max_healthy_percentage = 120};
  sent.deletion_protection = as::DeletionProtection::PreventForceDeletion;
  sent.availability_zone_distribution = as::AvailabilityZoneDistribution{
      .capacity_distribution_strategy = as::CapacityDistributionStrategy::BalancedOnly};
  sent.availability_zone_impairment_policy = as::AvailabilityZoneImpairmentPolicy{
      .zonal_shift_enabled = false,
      .impaired_zone_health_check_behavior = as::ImpairedZoneHealthCheckBehavior::IgnoreUnhealthy};
  sent.tags = {{.key = "k", .resource_id = "g", .value = "v", .propagate_at_launch = true}};
  ASSERT_TRUE(plane.create(sent));

  const as::AutoScalingGroup told = plane.group("g");
  EXPECT_EQ(told.launch_template->launch_template_name, "lt");
  EXPECT_EQ(told.launch_template->version, "$Latest");
  EXPECT_TRUE(told.launch_template->launch_template_id->starts_with("lt-"));
  EXPECT_FALSE(told.launch_configuration_name.has_value());
  EXPECT_EQ(told.min_size, sent.min_size);
  EXPECT_EQ(told.max_size, sent.max_size);
  EXPECT_EQ(told.desired_capacity, sent.desired_capacity);
  EXPECT_EQ(told.default_cooldown, sent.default_cooldown);
  EXPECT_EQ(told.health_check_type, sent.health_check_type);
  EXPECT_EQ(told.health_check_grace_period, sent.health_check_grace_period);
  EXPECT_EQ(told.availability_zones, sent.availability_zones);
  EXPECT_EQ(told.placement_group, sent.placement_group);
  EXPECT_EQ(told.vpc_zone_identifier, sent.vpc_zone_identifier);
  EXPECT_EQ(told.termination_policies, sent.termination_policies);
  EXPECT_EQ(told.new_instances_protected_from_scale_in, true);
  EXPECT_EQ(told.capacity_rebalance, true);
  EXPECT_EQ(told.service_linked_role_arn, sent.service_linked_role_arn);
  EXPECT_EQ(told.max_instance_lifetime, 0);
  EXPECT_EQ(told.context, "c");
  EXPECT_EQ(told.desired_capacity_type, "units");
  EXPECT_EQ(told.default_instance_warmup, 13);
  EXPECT_EQ(told.instance_maintenance_policy, sent.instance_maintenance_policy);
  EXPECT_EQ(told.deletion_protection, sent.deletion_protection);
  EXPECT_EQ(told.availability_zone_distribution, sent.availability_zone_distribution);
  EXPECT_EQ(told.availability_zone_impairment_policy, sent.availability_zone_impairment_policy);
  ASSERT_EQ(told.tags.size(), 1U);
  EXPECT_EQ(told.tags[0].resource_type, "auto-scaling-group");
  EXPECT_EQ(told.tags[0].propagate_at_launch, true);
}

struct WrongGroup {
  std::string name;
  std::function<void(as::CreateAutoScalingGroupType&)> spoil;
  std::string code;
  std::string said;
};

TEST_F(Groups, wrong_requests_are_refused_by_name_and_change_nothing) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("taken")));
  using Request = as::CreateAutoScalingGroupType;
  const std::vector<WrongGroup> table{
      {"taken", [](Request& r) { r.auto_scaling_group_name = "taken"; }, "AlreadyExistsFault",
       "already exists"},
      {"colon", [](Request& r) { r.auto_scaling_group_name = "a:b"; }, "ValidationError", "colon"},
      {"bounds", [](Request& r) { r.min_size = 5; }, "ValidationError",
       "Max bound, 4, must be greater than or equal to min bound, 5"},
      {"negative", [](Request& r) { r.min_size = -1; }, "ValidationError", "MinSize is -1"},
      {"desired", [](Request& r) { r.desired_capacity = 5; }, "ValidationError",
       "Desired capacity:5 must be between the specified min size:0 and max size:4"},
      {"no source", [](Request& r) { r.launch_configuration_name.reset(); }, "ValidationError",
       "Valid requests must contain either LaunchTemplate"},
      {"two sources", [](Request& r) { r.launch_template.emplace().launch_template_name = "lt"; },
       "ValidationError", "not both"},
      {"no configuration", [](Request& r) { r.launch_configuration_name = "none"; },
       "ValidationError", "Launch configuration none not found"},
      {"no template",
       [](Request& r) {
         r.launch_configuration_name.reset();
         r.launch_template.emplace().launch_template_id = "lt-0";
       },
       "ValidationError", "template ID lt-0, does not exist"},
      {"mixed", [](Request& r) { r.mixed_instances_policy.emplace(); }, "ValidationError",
       "MixedInstancesPolicy is not offered"},
      {"no zone", [](Request& r) { r.availability_zones = {}; }, "ValidationError",
       "At least one Availability Zone or VPC Subnet is required."},
      {"other region", [](Request& r) { r.availability_zones = {"eu-west-1a"}; }, "ValidationError",
       "eu-west-1a"},
      {"health", [](Request& r) { r.health_check_type = "EC2,PULSE"; }, "ValidationError",
       "HealthCheckType PULSE"},
      {"policy", [](Request& r) { r.termination_policies = {"Any"}; }, "ValidationError",
       "termination policy Any"},
      {"lifetime", [](Request& r) { r.max_instance_lifetime = 86'400; }, "ValidationError",
       "MaxInstanceLifetime is not offered"},
      {"balancer", [](Request& r) { r.target_group_arns = {"arn"}; }, "ValidationError",
       "TargetGroupARNs"},
      {"hooks", [](Request& r) { r.lifecycle_hook_specification_list.emplace_back(); },
       "ValidationError", "LifecycleHookSpecificationList"},
      {"reserved tag", [](Request& r) { r.tags.push_back({.key = "aws:x"}); }, "ValidationError",
       "aws:x"},
      {"tag of another", [](Request& r) { r.tags.push_back({.key = "x", .resource_id = "other"}); },
       "ValidationError", "other"},
  };
  for (const WrongGroup& wrong : table) {
    as::CreateAutoScalingGroupType request = ScalingPlane::group_request("new");
    wrong.spoil(request);
    const base::Error error = refused(request);
    EXPECT_EQ(error.code, wrong.code) << wrong.name;
    EXPECT_NE(error.message.find(wrong.said), std::string::npos) << wrong.name << error.message;
  }
}

TEST_F(Groups, an_update_changes_what_it_names_and_the_desired_capacity_follows_the_bounds) {
  as::CreateAutoScalingGroupType sent = ScalingPlane::group_request("g");
  sent.context = "kept";
  sent.placement_group = "pg";
  sent.default_instance_warmup = 30;
  sent.instance_maintenance_policy =
      as::InstanceMaintenancePolicy{.min_healthy_percentage = 90, .max_healthy_percentage = 120};
  ASSERT_TRUE(plane.create(sent));
  as::UpdateAutoScalingGroupType request = update_of("g");
  request.default_instance_warmup = -1;
  request.instance_maintenance_policy =
      as::InstanceMaintenancePolicy{.min_healthy_percentage = -1, .max_healthy_percentage = -1};
  request.min_size = 3;
  request.max_size = 9;
  request.placement_group = "";
  request.vpc_zone_identifier = "subnet-9";
  ASSERT_TRUE(plane.update(request));
  as::AutoScalingGroup told = plane.group("g");
  EXPECT_EQ(told.desired_capacity, 3);
  EXPECT_EQ(told.context, "kept");
  EXPECT_FALSE(told.placement_group.has_value());
  EXPECT_FALSE(told.default_instance_warmup.has_value());
  EXPECT_FALSE(told.instance_maintenance_policy.has_value());
  EXPECT_EQ(told.vpc_zone_identifier, "subnet-9");
  request = update_of("g");
  request.min_size = 0;
  request.max_size = 1;
  ASSERT_TRUE(plane.update(request));
  EXPECT_EQ(plane.group("g").desired_capacity, 1);

  request = update_of("g");
  request.desired_capacity = 2;
  EXPECT_NE(refused(request).message.find("Desired capacity:2"), std::string::npos);
  EXPECT_NE(refused(update_of("absent")).message.find("not found"), std::string::npos);
}

TEST_F(Groups, the_instance_type_follows_the_source_of_launches) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  const std::string id = plane.create_template("lt", "g4dn.xlarge");
  as::UpdateAutoScalingGroupType request = update_of("g");
  request.launch_template = as::LaunchTemplateSpecification{
      .launch_template_id = id, .launch_template_name = {}, .version = {}};
  ASSERT_TRUE(plane.update(request));
  EXPECT_EQ(plane.core.state().auto_scaling_groups.at("g").instance_type, "g4dn.xlarge");
  as::AutoScalingGroup told = plane.group("g");
  EXPECT_EQ(told.launch_template->version, "$Default");
  EXPECT_FALSE(told.launch_configuration_name.has_value());
  plane.create_configuration("bigger", "p4d.24xlarge");
  request = update_of("g");
  request.launch_configuration_name = "bigger";
  ASSERT_TRUE(plane.update(request));
  EXPECT_EQ(plane.core.state().auto_scaling_groups.at("g").instance_type, "p4d.24xlarge");
  told = plane.group("g");
  EXPECT_FALSE(told.launch_template.has_value());
  EXPECT_EQ(told.launch_configuration_name, "bigger");
}

TEST_F(Groups, a_group_with_machines_is_deleted_by_force_alone_and_then_waits_for_them) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  plane.put_machines("g", 2);
  const auto refused_deletion = plane.remove("g");
  ASSERT_FALSE(refused_deletion);
  EXPECT_EQ(refused_deletion.error().code, "ResourceInUseFault");
  ASSERT_TRUE(plane.remove("g", true));
  const as::AutoScalingGroup told = plane.group("g");
  EXPECT_EQ(told.status, "Delete in progress");
  ASSERT_EQ(told.instances.size(), 2U);
  EXPECT_EQ(told.instances[0].lifecycle_state, as::LifecycleState::Terminating);
  ASSERT_TRUE(plane.remove("g", true));
  EXPECT_EQ(refused(update_of("g")).code, "ScalingActivityInProgressFault");
  EXPECT_EQ(refused(ScalingPlane::group_request("g")).code, "AlreadyExistsFault");
}

TEST_F(Groups, a_group_without_machines_is_gone_at_once) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  ASSERT_TRUE(plane.remove("g"));
  EXPECT_TRUE(plane.core.state().auto_scaling_groups.empty());
  const auto again = plane.remove("g");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().message,
            "AutoScalingGroup name not found - AutoScalingGroup: g not found");
}

TEST_F(Groups, deletion_protection_is_kept) {
  as::CreateAutoScalingGroupType sent = ScalingPlane::group_request("g");
  sent.deletion_protection = as::DeletionProtection::PreventForceDeletion;
  ASSERT_TRUE(plane.create(sent));
  EXPECT_FALSE(plane.remove("g", true));
  EXPECT_TRUE(plane.remove("g"));
}

TEST_F(Groups, the_desired_capacity_stays_within_the_bounds) {
  as::CreateAutoScalingGroupType sent = ScalingPlane::group_request("g");
  sent.min_size = 1;
  ASSERT_TRUE(plane.create(sent));
  const auto set = [&](int32_t desired) {
    as::SetDesiredCapacityType request;
    request.auto_scaling_group_name = "g";
    request.desired_capacity = desired;
    return plane.scaling<as::SetDesiredCapacityResponse>("SetDesiredCapacity", request);
  };
  ASSERT_TRUE(set(4));
  EXPECT_EQ(plane.group("g").desired_capacity, 4);
  EXPECT_EQ(set(5).error().message,
            "New SetDesiredCapacity value 5 is above max value 4 for the AutoScalingGroup.");
  EXPECT_EQ(set(0).error().message,
            "New SetDesiredCapacity value 0 is below min value 1 for the AutoScalingGroup.");
}

TEST_F(Groups, lists_are_paged_and_filtered) {
  for (const std::string name : {"a", "b", "c"}) {
    as::CreateAutoScalingGroupType sent = ScalingPlane::group_request(name);
    sent.tags = {{.key = "team", .value = name == "b" ? "red" : "blue"}};
    ASSERT_TRUE(plane.create(sent));
  }
  as::AutoScalingGroupNamesType request;
  request.max_records = 2;
  auto page = plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups", request);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->auto_scaling_groups.size(), 2U);
  request.next_token = page->next_token;
  page = plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups", request);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->auto_scaling_groups.size(), 1U);
  EXPECT_EQ(page->auto_scaling_groups[0].auto_scaling_group_name, "c");
  EXPECT_FALSE(page->next_token.has_value());

  as::AutoScalingGroupNamesType filtered;
  filtered.filters = {{.name = "tag:team", .values = {"red"}}};
  page = plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups", filtered);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->auto_scaling_groups.size(), 1U);
  EXPECT_EQ(page->auto_scaling_groups[0].auto_scaling_group_name, "b");
  filtered.filters = {{.name = "colour", .values = {"red"}}};
  page = plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups", filtered);
  EXPECT_EQ(page.error().code, "ValidationError");
  filtered = {};
  filtered.next_token = "x";
  page = plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups", filtered);
  EXPECT_EQ(page.error().code, "InvalidNextToken");
}

TEST_F(Groups, a_launch_configuration_is_told_back_and_kept_while_a_group_uses_it) {
  as::CreateLaunchConfigurationType sent;
  sent.launch_configuration_name = "full";
  sent.instance_type = "not.of-the-catalogue";
  sent.image_id = "ami-2";
  sent.key_name = "key";
  sent.security_groups = {"sg-1"};
  sent.user_data = "ZWNobw==";
  sent.block_device_mappings = {
      {.device_name = "/dev/xvda",
       .ebs = as::Ebs{.volume_size = 40, .delete_on_termination = true, .encrypted = true}}};
  sent.instance_monitoring = as::InstanceMonitoring{.enabled = false};
  sent.iam_instance_profile = "profile";
  sent.ebs_optimized = true;
  sent.associate_public_ip_address = false;
  sent.metadata_options =
      as::InstanceMetadataOptions{.http_tokens = as::InstanceMetadataHttpTokensState::Required};
  ASSERT_TRUE(
      plane.scaling<as::CreateLaunchConfigurationResponse>("CreateLaunchConfiguration", sent));
  EXPECT_EQ(plane.scaling<as::CreateLaunchConfigurationResponse>("CreateLaunchConfiguration", sent)
                .error()
                .code,
            "AlreadyExistsFault");
  as::LaunchConfigurationNamesType ask;
  ask.launch_configuration_names = {"full"};
  const auto listed =
      plane.scaling<as::LaunchConfigurationsType>("DescribeLaunchConfigurations", ask);
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->launch_configurations.size(), 1U);
  const as::LaunchConfiguration& told = listed->launch_configurations[0];
  EXPECT_EQ(told.instance_type, sent.instance_type);
  EXPECT_EQ(told.image_id, sent.image_id);
  EXPECT_EQ(told.key_name, sent.key_name);
  EXPECT_EQ(told.security_groups, sent.security_groups);
  EXPECT_EQ(told.user_data, sent.user_data);
  EXPECT_EQ(told.block_device_mappings, sent.block_device_mappings);
  EXPECT_EQ(told.instance_monitoring, sent.instance_monitoring);
  EXPECT_EQ(told.iam_instance_profile, sent.iam_instance_profile);
  EXPECT_EQ(told.ebs_optimized, true);
  EXPECT_EQ(told.associate_public_ip_address, false);
  EXPECT_EQ(told.metadata_options, sent.metadata_options);

  const auto remove = [&](const std::string& name) {
    as::LaunchConfigurationNameType request;
    request.launch_configuration_name = name;
    return plane.scaling<as::DeleteLaunchConfigurationResponse>("DeleteLaunchConfiguration",
                                                                request);
  };
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  EXPECT_EQ(remove("lc").error().code, "ResourceInUseFault");
  EXPECT_TRUE(remove("full"));
  EXPECT_NE(remove("full").error().message.find("not found"), std::string::npos);
}

TEST_F(Groups, tags_are_put_listed_and_deleted) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g-2")));
  as::CreateOrUpdateTagsType put;
  put.tags = {{.key = "b", .resource_id = "g", .resource_type = "auto-scaling-group", .value = "1"},
              {.key = "a", .resource_id = "g", .value = "2", .propagate_at_launch = true},
              {.key = "a", .resource_id = "g-2"}};
  ASSERT_TRUE(plane.scaling<as::CreateOrUpdateTagsResponse>("CreateOrUpdateTags", put));
  put.tags = {{.key = "b", .resource_id = "g", .value = "3"}};
  ASSERT_TRUE(plane.scaling<as::CreateOrUpdateTagsResponse>("CreateOrUpdateTags", put));
  const as::AutoScalingGroup told = plane.group("g");
  ASSERT_EQ(told.tags.size(), 2U);
  EXPECT_EQ(told.tags[0].key, "a");
  EXPECT_EQ(told.tags[1].value, "3");

  as::DescribeTagsType ask;
  ask.max_records = 2;
  auto page = plane.scaling<as::TagsType>("DescribeTags", ask);
  ASSERT_TRUE(page);
  std::set<std::string> seen;
  for (const as::TagDescription& tag : page->tags) seen.insert(*tag.resource_id + "/" + *tag.key);
  ask.next_token = page->next_token;
  page = plane.scaling<as::TagsType>("DescribeTags", ask);
  ASSERT_TRUE(page);
  for (const as::TagDescription& tag : page->tags) seen.insert(*tag.resource_id + "/" + *tag.key);
  EXPECT_EQ(seen, (std::set<std::string>{"g/a", "g/b", "g-2/a"}));

  as::DeleteTagsType remove;
  remove.tags = {{.key = "b", .resource_id = "g"}, {.key = "none", .resource_id = "g"}};
  ASSERT_TRUE(plane.scaling<as::DeleteTagsResponse>("DeleteTags", remove));
  EXPECT_EQ(plane.group("g").tags.size(), 1U);
  put.tags = {{.key = "b", .resource_id = "absent"}};
  EXPECT_EQ(plane.scaling<as::CreateOrUpdateTagsResponse>("CreateOrUpdateTags", put).error().code,
            "ValidationError");
}

TEST_F(Groups, what_groups_do_not_have_is_told_as_empty) {
  ASSERT_TRUE(plane.create(ScalingPlane::group_request("g")));
  as::DescribeWarmPoolType pool;
  pool.auto_scaling_group_name = "g";
  const auto told = plane.scaling<as::DescribeWarmPoolAnswer>("DescribeWarmPool", pool);
  ASSERT_TRUE(told);
  EXPECT_FALSE(told->warm_pool_configuration.has_value());
  as::DescribeLifecycleHooksType hooks;
  hooks.auto_scaling_group_name = "absent";
  EXPECT_NE(plane.scaling<as::DescribeLifecycleHooksAnswer>("DescribeLifecycleHooks", hooks)
                .error()
                .message.find("not found"),
            std::string::npos);
}

}  // namespace
}  // namespace control
