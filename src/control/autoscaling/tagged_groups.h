// The groups that CreateOrUpdateTags and DeleteTags name, each tag naming its own.
#pragma once

#include <map>
#include <string>

#include "api/generated/autoscaling.h"
#include "base/result.h"
#include "control/step/step.h"

namespace control::autoscaling {

// Group's name to the tags for it. Errors: ValidationError for a resource that is no group of ours.
base::Result<std::map<std::string, api::List<api::autoscaling::Tag>>> tags_by_group(
    const Step& step, const api::List<api::autoscaling::Tag>& tags);

}  // namespace control::autoscaling
