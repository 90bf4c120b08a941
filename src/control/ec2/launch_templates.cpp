#include "control/ec2/launch_templates.h"

#include <algorithm>
#include <vector>

#include "api/json.h"
#include "base/format.h"
#include "base/text.h"
#include "control/capacity/groups/machines.h"
#include "control/ec2/errors.h"
#include "control/request/echo.h"

namespace control::ec2 {
namespace {

bool is_well_formed(std::string_view id) {
  return id.starts_with("lt-") && id.size() > 3 &&
         id.find_first_not_of("0123456789abcdef", 3) == std::string_view::npos;
}

}  // namespace

base::Result<const model::LaunchTemplate*> require_template(
    const Step& step, const std::optional<std::string>& id,
    const std::optional<std::string>& name) {
  const auto& templates = step.state().launch_templates;
  if (!id && !name) {
    return missing(
        "Either a launch template ID or a launch template name must be specified in the request.");
  }
  if (id && name) {
    return base::fail("InvalidParameterCombination",
                      "A launch template is named either by its ID or by its name, not by both.");
  }
  if (id) {
    if (!is_well_formed(*id)) {
      return base::fail("InvalidLaunchTemplateId.Malformed",
                        base::format("The launch template ID '{}' is malformed; it is \"lt-\" and "
                                     "hexadecimal digits.",
                                     *id));
    }
    const auto found = templates.find(*id);
    if (found != templates.end()) return &found->second;
    return base::fail(
        "InvalidLaunchTemplateId.NotFound",
        base::format("The specified launch template, with template ID {}, does not exist.", *id));
  }
  const auto found =
      std::ranges::find_if(templates, [&](const auto& one) { return one.second.name == *name; });
  if (found != templates.end()) return &found->second;
  return base::fail(
      "InvalidLaunchTemplateName.NotFoundException",
      base::format("The specified launch template, with template name {}, does not exist.", *name));
}

base::Result<const model::LaunchTemplate*> require_taggable(const Step& step,
                                                            const std::string& id) {
  if (id.starts_with("lt-")) return require_template(step, id, std::nullopt);
  return base::fail("InvalidID",
                    base::format("The ID '{}' is not valid: launch templates (lt-...) are the "
                                 "resources of EC2 that Berth has.",
                                 id));
}

const model::LaunchTemplateVersion* find_version(const model::LaunchTemplate& launch_template,
                                                 std::string_view version) {
  int64_t number = 0;
  if (version == "$Latest") {
    number = launch_template.latest_version;
  } else if (version == "$Default") {
    number = launch_template.default_version;
  } else {
    const auto read = base::parse_number<int64_t>(version);
    if (!read) return nullptr;
    number = *read;
  }
  const auto found =
      std::ranges::find(launch_template.versions, number, &model::LaunchTemplateVersion::number);
  return found == launch_template.versions.end() ? nullptr : &*found;
}

base::Result<const model::LaunchTemplateVersion*> require_version(
    const model::LaunchTemplate& launch_template, std::string_view version) {
  if (const auto* const found = find_version(launch_template, version)) return found;
  return base::fail(
      "InvalidLaunchTemplateId.VersionNotFound",
      base::format("Could not find the specified version {} for the launch template with ID {}.",
                   version, launch_template.id));
}

base::Result<const api::ec2::RequestLaunchTemplateData*> require_data(
    const std::optional<api::ec2::RequestLaunchTemplateData>& data) {
  if (!data) return missing("The request must contain the parameter LaunchTemplateData");
  return &*data;
}

base::Result<model::LaunchTemplateVersion> make_version(
    const Step& step, int64_t number, const std::optional<std::string>& description,
    const api::ec2::RequestLaunchTemplateData& data) {
  if (data.instance_requirements) {
    return invalid_value(
        "InstanceRequirements is not offered: a machine's type is named in InstanceType.");
  }
  return model::LaunchTemplateVersion{.number = number,
                                      .description = description.value_or(""),
                                      .created_at = step.now,
                                      .instance_type = data.instance_type.value_or(""),
                                      .user_data = data.user_data.value_or(""),
                                      .data = api::print(data)};
}

void put_template(Step& step, model::LaunchTemplate launch_template) {
  const std::string id = launch_template.id;
  step.change(model::LaunchTemplatePut{std::move(launch_template)});
  std::vector<model::AutoScalingGroup> followed;
  for (const auto& [name, group] : step.state().auto_scaling_groups) {
    if (group.launch_template != id) continue;
    // A version without a type launches nothing: the group keeps the last that it had.
    const auto source = launch_source(step.state(), group);
    if (!source || source->instance_type.empty() || source->instance_type == group.instance_type) {
      continue;
    }
    followed.push_back(group);
    followed.back().instance_type = source->instance_type;
  }
  for (model::AutoScalingGroup& group : followed) {
    step.change(model::AutoScalingGroupPut{std::move(group)});
  }
}

api::ec2::LaunchTemplate describe_template(const Step& step,
                                           const model::LaunchTemplate& launch_template) {
  api::ec2::LaunchTemplate told;
  told.launch_template_id = launch_template.id;
  told.launch_template_name = launch_template.name;
  told.create_time = launch_template.created_at;
  told.created_by = model::root_user_arn(step.settings.account);
  told.default_version_number = launch_template.default_version;
  told.latest_version_number = launch_template.latest_version;
  for (const api::ecs::Tag& tag : launch_template.tags) {
    told.tags.push_back({.key = tag.key, .value = tag.value});
  }
  return told;
}

api::ec2::LaunchTemplateVersion describe_version(const Step& step,
                                                 const model::LaunchTemplate& launch_template,
                                                 const model::LaunchTemplateVersion& version) {
  api::ec2::LaunchTemplateVersion told;
  told.launch_template_id = launch_template.id;
  told.launch_template_name = launch_template.name;
  told.version_number = version.number;
  if (!version.description.empty()) told.version_description = version.description;
  told.create_time = version.created_at;
  told.created_by = model::root_user_arn(step.settings.account);
  told.default_version = version.number == launch_template.default_version;
  told.launch_template_data = read_echo<api::ec2::ResponseLaunchTemplateData>(version.data);
  return told;
}

}  // namespace control::ec2
