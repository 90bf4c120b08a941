#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/tagged_resource.h"

namespace control::ecs {

// A key that the resource does not have is no error.
Answer<api::ecs::UntagResourceResponse> untag_resource(
    Step& step, const api::ecs::UntagResourceRequest& request) {
  const TaggedResource resource =
      TRY(require_taggable(step, "UntagResource", request.resource_arn));
  Tags tags;
  for (const api::ecs::Tag& tag : *resource.tags) {
    if (std::ranges::find(request.tag_keys, tag.key.value_or("")) == request.tag_keys.end()) {
      tags.push_back(tag);
    }
  }
  TRY_VOID(set_tags(step, resource, std::move(tags)));
  return api::ecs::UntagResourceResponse{};
}

}  // namespace control::ecs
