#include "control/autoscaling/describe.h"

#include <algorithm>
#include <string>

#include "control/request/echo.h"
#include "model/ids.h"

namespace control::autoscaling {
namespace {

namespace as = api::autoscaling;

as::LifecycleState lifecycle_state(model::MachineState state) {
  switch (state) {
    case model::MachineState::Wanted:
    case model::MachineState::Pending:
      return as::LifecycleState::Pending;
    case model::MachineState::InService:
      return as::LifecycleState::InService;
    case model::MachineState::Terminating:
      return as::LifecycleState::Terminating;
  }
  CHECK(false);
}

as::LaunchTemplateSpecification template_of_group(const Step& step,
                                                  const model::AutoScalingGroup& group) {
  as::LaunchTemplateSpecification told{.launch_template_id = group.launch_template,
                                       .launch_template_name = {},
                                       .version = group.launch_template_version};
  const auto found = step.state().launch_templates.find(group.launch_template);
  if (found != step.state().launch_templates.end()) told.launch_template_name = found->second.name;
  return told;
}

// A machine names its template, a group the template's id.
as::LaunchTemplateSpecification template_of_machine(const Step& step,
                                                    const model::Machine& machine) {
  as::LaunchTemplateSpecification told{.launch_template_id = {},
                                       .launch_template_name = machine.launch_name,
                                       .version = machine.launch_version};
  const auto& templates = step.state().launch_templates;
  const auto found = std::ranges::find_if(
      templates, [&](const auto& one) { return one.second.name == machine.launch_name; });
  if (found != templates.end()) told.launch_template_id = found->first;
  return told;
}

as::Instance instance_of_group(const as::AutoScalingInstanceDetails& details,
                               model::MachineState state) {
  as::Instance told;
  told.instance_id = details.instance_id;
  told.instance_type = details.instance_type;
  told.availability_zone = details.availability_zone;
  told.lifecycle_state = lifecycle_state(state);
  told.health_status = details.health_status == "HEALTHY" ? "Healthy" : "Unhealthy";
  told.launch_configuration_name = details.launch_configuration_name;
  told.launch_template = details.launch_template;
  told.protected_from_scale_in = details.protected_from_scale_in;
  return told;
}

}  // namespace

as::AutoScalingInstanceDetails describe_machine(const Step& step,
                                                const model::AutoScalingGroup& group,
                                                const model::Machine& machine) {
  as::AutoScalingInstanceDetails told;
  told.instance_id = machine.id;
  told.instance_type = machine.instance_type;
  told.auto_scaling_group_name = group.name;
  told.availability_zone = machine.availability_zone;
  told.lifecycle_state = api::to_string(lifecycle_state(machine.state));
  told.health_status = machine.healthy ? "HEALTHY" : "UNHEALTHY";
  told.protected_from_scale_in = machine.scale_in_protected;
  if (machine.launch_version.empty()) {
    told.launch_configuration_name = machine.launch_name;
  } else {
    told.launch_template = template_of_machine(step, machine);
  }
  return told;
}

as::AutoScalingGroup describe_group(const Step& step, const model::AutoScalingGroup& group,
                                    WithInstances with_instances) {
  auto told = read_echo<as::AutoScalingGroup>(group.echoed);
  told.auto_scaling_group_name = group.name;
  told.auto_scaling_group_arn =
      model::auto_scaling_group_arn(step.settings.account, group.id, group.name);
  told.created_time = group.created_at;
  told.min_size = group.min_size;
  told.max_size = group.max_size;
  told.desired_capacity = group.desired_capacity;
  told.default_cooldown = group.default_cooldown_s;
  told.health_check_grace_period = group.health_check_grace_s;
  told.health_check_type = group.health_check_type;
  if (group.launch_configuration.empty()) {
    told.launch_template = template_of_group(step, group);
  } else {
    told.launch_configuration_name = group.launch_configuration;
  }
  told.availability_zones = group.availability_zones;
  // AWS tells an empty text where none was given, and clients compare.
  told.vpc_zone_identifier = group.subnets;
  told.termination_policies = group.termination_policies;
  told.new_instances_protected_from_scale_in = group.new_machines_protected;
  if (group.deleting) told.status = "Delete in progress";
  told.tags.set_present();
  for (const model::GroupTag& tag : group.tags) told.tags.push_back(describe_tag(group, tag));
  told.instances.set_present();
  for (const model::Machine& machine : group.machines) {
    if (with_instances == WithInstances::No || machine.id.empty()) continue;
    told.instances.push_back(
        instance_of_group(describe_machine(step, group, machine), machine.state));
  }
  told.load_balancer_names.set_present();
  told.target_group_arns.set_present();
  told.traffic_sources.set_present();
  told.suspended_processes.set_present();
  told.enabled_metrics.set_present();
  return told;
}

as::Activity describe_activity(const Step& step, const model::ScalingActivity& activity) {
  as::Activity told;
  told.activity_id = activity.id;
  told.auto_scaling_group_name = activity.group;
  told.cause = activity.cause;
  told.description = activity.description;
  told.start_time = activity.started_at;
  told.end_time = activity.ended_at;
  told.status_code = api::parse_enum<as::ScalingActivityStatusCode>(activity.status);
  if (!activity.status_message.empty()) told.status_message = activity.status_message;
  told.progress = activity.ended_at ? 100 : 50;
  told.details = "{}";
  const auto group = step.state().auto_scaling_groups.find(activity.group);
  if (group != step.state().auto_scaling_groups.end()) {
    told.auto_scaling_group_arn =
        model::auto_scaling_group_arn(step.settings.account, group->second.id, group->second.name);
  }
  return told;
}

as::TagDescription describe_tag(const model::AutoScalingGroup& group, const model::GroupTag& tag) {
  return {.resource_id = group.name,
          .resource_type = "auto-scaling-group",
          .key = tag.key,
          .value = tag.value,
          .propagate_at_launch = tag.propagate_at_launch};
}

}  // namespace control::autoscaling
