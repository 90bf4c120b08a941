#include "logs/operations/operations.h"

namespace logs {

base::Result<api::logs::ListTagsForResourceResponse> list_tags_for_resource(
    Context& context, const api::logs::ListTagsForResourceRequest& request) {
  const Group group = TRY(existing_group_by_arn(context, request.resource_arn));
  return api::logs::ListTagsForResourceResponse{.tags = TRY(context.groups.tags(group.id))};
}

}  // namespace logs
