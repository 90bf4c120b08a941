// Random calls of Auto Scaling and EC2: what the store would load is what the memory holds, and is
// told in the same words.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "api/json.h"
#include "control/autoscaling/testing_api.h"
#include "model/records.h"

namespace control {
namespace {

using testing::ScalingPlane;
namespace as = api::autoscaling;

std::string any_name(uint32_t pick) {
  return "n" + std::to_string(pick % 4);
}

void alter_groups(ScalingPlane& plane, uint32_t pick) {
  as::CreateAutoScalingGroupType request = ScalingPlane::group_request(any_name(pick));
  request.desired_capacity = static_cast<int32_t>(pick % 4);
  request.context = std::to_string(pick);
  request.tags = {{.key = "k" + std::to_string(pick % 3), .value = "<&\"" + std::to_string(pick)}};
  if (pick % 2 == 0) {
    request.launch_configuration_name.reset();
    request.launch_template = as::LaunchTemplateSpecification{
        .launch_template_id = {}, .launch_template_name = any_name(pick / 5), .version = "$Latest"};
  }
  if (plane.create(request)) return;
  as::UpdateAutoScalingGroupType update;
  update.auto_scaling_group_name = request.auto_scaling_group_name;
  update.min_size = static_cast<int32_t>(pick % 3);
  update.vpc_zone_identifier = "subnet-" + std::to_string(pick);
  static_cast<void>(plane.update(update));
}

void alter_machines(ScalingPlane& plane, uint32_t pick) {
  const auto& groups = plane.core.state().auto_scaling_groups;
  if (!groups.contains(any_name(pick))) return;
  if (groups.at(any_name(pick)).machines.empty()) {
    return plane.put_machines(any_name(pick), static_cast<int32_t>(pick % 4));
  }
  as::TerminateInstanceInAutoScalingGroupType request;
  request.instance_id = "i-" + std::to_string(pick % 3);
  request.should_decrement_desired_capacity = pick % 2 == 0;
  static_cast<void>(
      plane.scaling<as::ActivityType>("TerminateInstanceInAutoScalingGroup", request));
}

void alter_templates(ScalingPlane& plane, uint32_t pick) {
  api::ec2::CreateLaunchTemplateRequest create;
  create.launch_template_name = any_name(pick);
  create.launch_template_data.emplace().instance_type =
      pick % 3 == 0 ? "p3.2xlarge" : "g4dn.xlarge";
  if (plane.ec2<api::ec2::CreateLaunchTemplateResult>("CreateLaunchTemplate", create)) return;
  if (pick % 7 == 0) {
    api::ec2::DeleteLaunchTemplateRequest remove;
    remove.launch_template_name = create.launch_template_name;
    static_cast<void>(
        plane.ec2<api::ec2::DeleteLaunchTemplateResult>("DeleteLaunchTemplate", remove));
    return;
  }
  api::ec2::CreateLaunchTemplateVersionRequest version;
  version.launch_template_name = create.launch_template_name;
  version.launch_template_data = create.launch_template_data;
  RC_ASSERT((
      plane.ec2<api::ec2::CreateLaunchTemplateVersionResult>("CreateLaunchTemplateVersion", version)
          .has_value()));
}

void act_on_groups(ScalingPlane& plane, uint32_t kind, uint32_t pick) {
  switch (kind % 6) {
    case 0:
    case 1:
      return alter_groups(plane, pick);
    case 2:
      return alter_machines(plane, pick);
    case 3:
      return alter_templates(plane, pick);
    case 4: {
      as::CreateLaunchConfigurationType request;
      request.launch_configuration_name = any_name(pick);
      request.instance_type = "p3.2xlarge";
      static_cast<void>(plane.scaling<as::CreateLaunchConfigurationResponse>(
          "CreateLaunchConfiguration", request));
      return;
    }
    default:
      static_cast<void>(plane.remove(any_name(pick), pick % 2 == 0));
  }
}

// All that clients can see.
std::string told(ScalingPlane& plane) {
  std::string text;
  const auto add = [&](const auto& answer) {
    RC_ASSERT(answer.has_value());
    text += api::print(*answer) + "\n";
  };
  add(plane.scaling<as::AutoScalingGroupsType>("DescribeAutoScalingGroups",
                                               as::AutoScalingGroupNamesType{}));
  add(plane.scaling<as::ActivitiesType>("DescribeScalingActivities",
                                        as::DescribeScalingActivitiesType{}));
  add(plane.scaling<as::LaunchConfigurationsType>("DescribeLaunchConfigurations",
                                                  as::LaunchConfigurationNamesType{}));
  api::ec2::DescribeLaunchTemplateVersionsRequest versions;
  versions.versions = {"$Latest", "$Default"};
  add(plane.ec2<api::ec2::DescribeLaunchTemplateVersionsResult>("DescribeLaunchTemplateVersions",
                                                                versions));
  return text;
}

RC_GTEST_PROP(reload_groups, what_is_loaded_is_told_as_before, ()) {
  ScalingPlane plane;
  plane.create_configuration("lc");
  const auto steps = *rc::gen::container<std::vector<std::pair<uint32_t, uint32_t>>>(
      rc::gen::pair(rc::gen::arbitrary<uint32_t>(), rc::gen::arbitrary<uint32_t>()));
  for (const auto& [kind, pick] : steps) act_on_groups(plane, kind, pick);

  const std::string before = told(plane);
  model::ClusterState loaded = plane.reloaded();
  RC_ASSERT(loaded.auto_scaling_groups == plane.core.state().auto_scaling_groups);
  ScalingPlane again(Settings{}, std::move(loaded));
  again.now = plane.now;
  RC_ASSERT(told(again) == before);
}

}  // namespace
}  // namespace control
