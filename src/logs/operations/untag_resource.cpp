#include "logs/operations/operations.h"

namespace logs {

base::Result<void> untag_resource(Context& context,
                                  const api::logs::UntagResourceRequest& request) {
  const Group group = TRY(existing_group_by_arn(context, request.resource_arn));
  for (const std::string& key : request.tag_keys) {
    TRY_VOID(context.groups.remove_tag(group.id, key));
  }
  return {};
}

}  // namespace logs
