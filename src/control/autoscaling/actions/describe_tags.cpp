#include <array>
#include <map>
#include <string>
#include <utility>

#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/describe.h"
#include "control/autoscaling/lists.h"

namespace control::autoscaling {
namespace {
constexpr std::array<std::string_view, 4> tag_filters{"auto-scaling-group", "key", "value",
                                                      "propagate-at-launch"};
}  // namespace

Answer<api::autoscaling::TagsType> describe_tags(
    Step& step, const api::autoscaling::DescribeTagsType& request) {
  Page page(TRY(records_request(request.next_token, request.max_records, 100)));
  const auto filters = TRY(known_filters(request.filters, tag_filters));
  std::map<std::string, api::autoscaling::TagDescription> tags;  // In an order that pages keep.
  for (const auto& [name, group] : step.state().auto_scaling_groups) {
    for (const model::GroupTag& tag : group.tags) {
      const FilterFacts facts{{"auto-scaling-group", name},
                              {"key", tag.key},
                              {"value", tag.value},
                              {"propagate-at-launch", tag.propagate_at_launch ? "true" : "false"}};
      if (passes(filters, facts)) tags.emplace(name + "/" + tag.key, describe_tag(group, tag));
    }
  }
  api::autoscaling::TagsType response;
  response.tags.set_present();
  for (auto& [key, tag] : tags) {
    if (!page.wants(key)) continue;
    if (!page.add(key)) break;
    response.tags.push_back(std::move(tag));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::autoscaling
