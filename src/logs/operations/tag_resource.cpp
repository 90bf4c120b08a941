#include "base/format.h"
#include "logs/operations/operations.h"
#include "logs/rules.h"

namespace logs {

base::Result<void> tag_resource(Context& context, const api::logs::TagResourceRequest& request) {
  TRY_VOID(check_tags(request.tags));
  const Group group = TRY(existing_group_by_arn(context, request.resource_arn));
  Tags all = TRY(context.groups.tags(group.id));
  for (const auto& [key, value] : request.tags) all[key] = value;
  if (all.size() > max_tags) {
    return base::fail("TooManyTagsException",
                      base::format("A log group can have at most {} tags; it would have {}.",
                                   max_tags, all.size()));
  }
  for (const auto& [key, value] : request.tags) {
    TRY_VOID(context.groups.put_tag(group.id, key, value));
  }
  return {};
}

}  // namespace logs
