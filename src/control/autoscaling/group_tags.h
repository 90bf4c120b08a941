// Tags of Auto Scaling groups.
#pragma once

#include <vector>

#include "api/generated/autoscaling.h"
#include "base/result.h"
#include "model/capacity.h"

namespace control::autoscaling {

// Puts the tags over those that are there, by key; the result is in the order of the keys.
// Errors: ValidationError for a reserved key or a key given twice, LimitExceeded for more than 50.
base::Result<void> put_group_tags(const api::List<api::autoscaling::Tag>& given,
                                  std::vector<model::GroupTag>& tags);

}  // namespace control::autoscaling
