#include <algorithm>
#include <vector>

#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/tagged_groups.h"

namespace control::autoscaling {

// A tag that is not there is no error; one that names a value goes only with that value.
Answer<api::autoscaling::DeleteTagsResponse> delete_tags(
    Step& step, const api::autoscaling::DeleteTagsType& request) {
  for (const auto& [name, tags] : TRY(tags_by_group(step, request.tags))) {
    model::AutoScalingGroup group = step.state().auto_scaling_groups.at(name);
    const size_t erased = std::erase_if(group.tags, [&](const model::GroupTag& tag) {
      return std::ranges::any_of(tags, [&](const api::autoscaling::Tag& given) {
        return given.key == tag.key && given.value.value_or(tag.value) == tag.value;
      });
    });
    if (erased > 0) step.change(model::AutoScalingGroupPut{std::move(group)});
  }
  return api::autoscaling::DeleteTagsResponse{};
}

}  // namespace control::autoscaling
