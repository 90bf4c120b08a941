#include <array>

#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/describe.h"
#include "control/autoscaling/lists.h"

namespace control::autoscaling {
namespace {
constexpr std::array<std::string_view, 3> group_filters{"tag-key", "tag-value", "tag:"};
}  // namespace

Answer<api::autoscaling::AutoScalingGroupsType> describe_auto_scaling_groups(
    Step& step, const api::autoscaling::AutoScalingGroupNamesType& request) {
  Page page(TRY(records_request(request.next_token, request.max_records, 100)));
  const auto filters = TRY(known_filters(request.filters, group_filters));
  const WithInstances with_instances =
      request.include_instances.value_or(true) ? WithInstances::Yes : WithInstances::No;
  api::autoscaling::AutoScalingGroupsType response;
  response.auto_scaling_groups.set_present();
  for (const auto& [name, group] : step.state().auto_scaling_groups) {
    FilterFacts facts;
    for (const model::GroupTag& tag : group.tags) add_tag_facts(facts, tag.key, tag.value);
    if (!wants(request.auto_scaling_group_names, name) || !passes(filters, facts)) continue;
    if (!page.wants(name)) continue;
    if (!page.add(name)) break;
    response.auto_scaling_groups.push_back(describe_group(step, group, with_instances));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::autoscaling
