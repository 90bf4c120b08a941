// Tags of resources, and those that Berth itself reads.
#pragma once

#include <string_view>

#include "api/generated/ecs.h"
#include "base/result.h"
#include "placement/policy.h"

namespace control {

using Tags = api::List<api::ecs::Tag>;

// At most 50 tags, each with a key of its own that does not begin with "aws:"; one that begins with
// "berth:" is one that Berth knows, with a value that means something.
// what: "cluster", "task definition", ... for the sentence.
// Source: ECS API reference, "Tag". Errors: InvalidParameterException.
base::Result<void> check_tags(const Tags& tags, std::string_view what);

// How a cluster's tasks are placed where their strategies leave a choice.
inline constexpr std::string_view placement_policy_tag = "berth:placement-policy";

// The value of that tag; Policy::Berth where the cluster has none.
// Errors: InvalidParameterException naming the values that there are.
base::Result<placement::Policy> placement_policy_of(const Tags& cluster_tags);

}  // namespace control
