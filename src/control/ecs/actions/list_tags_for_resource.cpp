#include "control/ecs/actions/actions.h"
#include "control/ecs/tagged_resource.h"

namespace control::ecs {

Answer<api::ecs::ListTagsForResourceResponse> list_tags_for_resource(
    Step& step, const api::ecs::ListTagsForResourceRequest& request) {
  const TaggedResource resource =
      TRY(require_tagged(step, "ListTagsForResource", request.resource_arn));
  api::ecs::ListTagsForResourceResponse response;
  response.tags = *resource.tags;
  response.tags.set_present();
  return response;
}

}  // namespace control::ecs
