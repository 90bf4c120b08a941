#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/tagged_resource.h"
#include "control/request/errors.h"

namespace control::ecs {

// "If existing tags on a resource are not specified in the request parameters, they aren't
// changed."
Answer<api::ecs::TagResourceResponse> tag_resource(Step& step,
                                                   const api::ecs::TagResourceRequest& request) {
  const TaggedResource resource = TRY(require_taggable(step, "TagResource", request.resource_arn));
  TRY_VOID(check_tags(request.tags, "request"));
  Tags tags = *resource.tags;
  for (const api::ecs::Tag& tag : request.tags) {
    const auto same = std::ranges::find(tags, tag.key, &api::ecs::Tag::key);
    if (same == tags.end()) {
      tags.push_back(tag);
    } else {
      same->value = tag.value;
    }
  }
  TRY_VOID(set_tags(step, resource, std::move(tags)));
  return api::ecs::TagResourceResponse{};
}

}  // namespace control::ecs
