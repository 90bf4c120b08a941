// Tags of launch templates.
#pragma once

#include "api/generated/ec2.h"
#include "api/generated/ecs.h"
#include "base/result.h"
#include "control/request/tags.h"

namespace control::ec2 {

// The tags for the launch template itself. Errors: InvalidParameterValue for another resource type
// or a reserved key.
base::Result<Tags> template_tags(const api::List<api::ec2::TagSpecification>& specifications);

// Puts the tags over those that are there, by key. Errors: InvalidParameterValue for a reserved
// key, TagLimitExceeded for more than 50.
base::Result<void> put_tags(const api::List<api::ec2::Tag>& given, Tags& tags);

}  // namespace control::ec2
