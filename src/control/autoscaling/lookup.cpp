#include "control/autoscaling/lookup.h"

#include <algorithm>

#include "base/format.h"
#include "control/autoscaling/errors.h"

namespace control::autoscaling {

base::Result<const model::AutoScalingGroup*> require_group(const Step& step,
                                                           const std::optional<std::string>& name) {
  const auto found = step.state().auto_scaling_groups.find(name.value_or(""));
  if (found == step.state().auto_scaling_groups.end()) {
    return validation_error(base::format(
        "AutoScalingGroup name not found - AutoScalingGroup: {} not found", name.value_or("")));
  }
  return &found->second;
}

base::Result<const model::AutoScalingGroup*> require_living_group(
    const Step& step, const std::optional<std::string>& name) {
  const model::AutoScalingGroup* const group = TRY(require_group(step, name));
  if (group->deleting) {
    return activity_in_progress(base::format(
        "The AutoScalingGroup {} is pending deletion: its {} instances are being terminated.",
        group->name, group->machines.size()));
  }
  return group;
}

base::Result<const model::LaunchTemplate*> require_launch_template(
    const Step& step, const api::autoscaling::LaunchTemplateSpecification& specification) {
  const auto& templates = step.state().launch_templates;
  if (specification.launch_template_id.has_value() ==
      specification.launch_template_name.has_value()) {
    return validation_error(
        "Valid requests must contain either launchTemplateId or LaunchTemplateName");
  }
  constexpr std::string_view lead = "You must use a valid fully-formed launch template.";
  if (specification.launch_template_id) {
    const auto found = templates.find(*specification.launch_template_id);
    if (found != templates.end()) return &found->second;
    return validation_error(
        base::format("{} The specified launch template, with template ID {}, does not exist.", lead,
                     *specification.launch_template_id));
  }
  const auto found = std::ranges::find_if(templates, [&](const auto& one) {
    return one.second.name == *specification.launch_template_name;
  });
  if (found != templates.end()) return &found->second;
  return validation_error(
      base::format("{} The specified launch template, with template name {}, does not exist.", lead,
                   *specification.launch_template_name));
}

FoundMachine find_machine(const model::ClusterState& state, std::string_view id) {
  for (const auto& [name, group] : state.auto_scaling_groups) {
    const auto found = std::ranges::find(group.machines, id, &model::Machine::id);
    if (!id.empty() && found != group.machines.end()) return {&group, &*found};
  }
  return {};
}

}  // namespace control::autoscaling
