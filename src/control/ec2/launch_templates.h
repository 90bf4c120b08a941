// Launch templates: found by what clients call them, and told to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/generated/ec2.h"
#include "base/result.h"
#include "control/step/step.h"
#include "model/capacity.h"

namespace control::ec2 {

// The template of an id or of a name, whichever is given.
// Errors: MissingParameter, InvalidParameterCombination, InvalidLaunchTemplateId.Malformed,
// InvalidLaunchTemplateId.NotFound, InvalidLaunchTemplateName.NotFoundException.
base::Result<const model::LaunchTemplate*> require_template(const Step& step,
                                                            const std::optional<std::string>& id,
                                                            const std::optional<std::string>& name);

// Of an operation on tags: launch templates are all that has tags here. Errors: as
// require_template, InvalidID for an ID of anything else.
base::Result<const model::LaunchTemplate*> require_taggable(const Step& step,
                                                            const std::string& id);

// "$Latest", "$Default" or a number. nullptr: the template has no such version.
const model::LaunchTemplateVersion* find_version(const model::LaunchTemplate& launch_template,
                                                 std::string_view version);
// Errors: InvalidLaunchTemplateId.VersionNotFound.
base::Result<const model::LaunchTemplateVersion*> require_version(
    const model::LaunchTemplate& launch_template, std::string_view version);

// The call's data. Errors: MissingParameter.
base::Result<const api::ec2::RequestLaunchTemplateData*> require_data(
    const std::optional<api::ec2::RequestLaunchTemplateData>& data);

// A new version out of what the call brings. Errors: InvalidParameterValue.
base::Result<model::LaunchTemplateVersion> make_version(
    const Step& step, int64_t number, const std::optional<std::string>& description,
    const api::ec2::RequestLaunchTemplateData& data);

// Puts the template, and with it into every group that launches from it the instance type that its
// machines have from now on.
void put_template(Step& step, model::LaunchTemplate launch_template);

api::ec2::LaunchTemplate describe_template(const Step& step,
                                           const model::LaunchTemplate& launch_template);
api::ec2::LaunchTemplateVersion describe_version(const Step& step,
                                                 const model::LaunchTemplate& launch_template,
                                                 const model::LaunchTemplateVersion& version);

}  // namespace control::ec2
