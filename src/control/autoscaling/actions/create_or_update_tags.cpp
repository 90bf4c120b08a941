#include <vector>

#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/group_tags.h"
#include "control/autoscaling/tagged_groups.h"

namespace control::autoscaling {

Answer<api::autoscaling::CreateOrUpdateTagsResponse> create_or_update_tags(
    Step& step, const api::autoscaling::CreateOrUpdateTagsType& request) {
  std::vector<model::AutoScalingGroup> tagged;
  for (const auto& [name, tags] : TRY(tags_by_group(step, request.tags))) {
    model::AutoScalingGroup& group = tagged.emplace_back(step.state().auto_scaling_groups.at(name));
    TRY_VOID(put_group_tags(tags, group.tags));
  }
  for (model::AutoScalingGroup& group : tagged) {
    step.change(model::AutoScalingGroupPut{std::move(group)});
  }
  return api::autoscaling::CreateOrUpdateTagsResponse{};
}

}  // namespace control::autoscaling
