// From the resourceArn of the tag operations to what it names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "control/request/tags.h"
#include "control/step/step.h"

namespace control::ecs {

struct TaggedResource {
  decltype(model::TagsSet::resource) resource;
  const Tags* tags = nullptr;  // In the state; lives until the next change.
  std::string_view what;       // "cluster", "container instance", "task definition", "task".
  bool ended = false;          // INACTIVE or STOPPED: its tags can be read, not changed.
};

// Looks the resource up, and whether the caller may do `operation` with it.
// Errors: InvalidParameterException for what is no ARN, or of something that has no tags here;
// ClusterNotFoundException, ResourceNotFoundException; AccessDeniedException.
base::Result<TaggedResource> require_tagged(const Step& step, std::string_view operation,
                                            const std::optional<std::string>& resource_arn);
// As above, and the resource has not ended. Errors: also ClientException.
base::Result<TaggedResource> require_taggable(const Step& step, std::string_view operation,
                                              const std::optional<std::string>& resource_arn);

// Checks the whole list of tags that the resource is to have, and makes it durable.
// Errors: InvalidParameterException.
base::Result<void> set_tags(Step& step, const TaggedResource& resource, Tags tags);

}  // namespace control::ecs
