#include "control/autoscaling/tagged_groups.h"

#include "base/format.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {

base::Result<std::map<std::string, api::List<api::autoscaling::Tag>>> tags_by_group(
    const Step& step, const api::List<api::autoscaling::Tag>& tags) {
  std::map<std::string, api::List<api::autoscaling::Tag>> by_group;
  for (const api::autoscaling::Tag& tag : tags) {
    if (tag.resource_type.value_or("auto-scaling-group") != "auto-scaling-group") {
      return validation_error(base::format("ResourceType is \"{}\"; it must be auto-scaling-group.",
                                           *tag.resource_type));
    }
    if (!tag.resource_id) {
      return validation_error(
          base::format("The tag {} names no ResourceId: the name of its Auto Scaling group.",
                       tag.key.value_or("")));
    }
    by_group[TRY(require_group(step, tag.resource_id))->name].push_back(tag);
  }
  return by_group;
}

}  // namespace control::autoscaling
