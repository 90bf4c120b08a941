#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/describe.h"
#include "control/autoscaling/lists.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {
namespace {

constexpr std::array<std::string_view, 1> activity_filters{"Status"};

using KeyedActivity = std::pair<std::string, const model::ScalingActivity*>;

// The newest first, each with a key in that order. Of one time the later recorded is the newer.
std::vector<KeyedActivity> newest_first(
    const Step& step, const api::autoscaling::DescribeScalingActivitiesType& request) {
  std::vector<KeyedActivity> all;
  for (const auto& [name, recorded] : step.state().scaling_activities) {
    if (request.auto_scaling_group_name && name != *request.auto_scaling_group_name) continue;
    size_t place = recorded.activities.size();
    for (const model::ScalingActivity& activity : recorded.activities) {
      --place;
      if (!wants(request.activity_ids, activity.id)) continue;
      const int64_t before = INT64_MAX - activity.started_at.time_since_epoch().count();
      all.emplace_back(base::format("{:020}/{}/{:04}/{}", before, name, place, activity.id),
                       &activity);
    }
  }
  std::ranges::sort(all);
  return all;
}

}  // namespace

Answer<api::autoscaling::ActivitiesType> describe_scaling_activities(
    Step& step, const api::autoscaling::DescribeScalingActivitiesType& request) {
  Page page(TRY(records_request(request.next_token, request.max_records, 100)));
  const auto filters = TRY(known_filters(request.filters, activity_filters));
  if (request.auto_scaling_group_name) {
    TRY_VOID(require_group(step, request.auto_scaling_group_name));
  }
  api::autoscaling::ActivitiesType response;
  response.activities.set_present();
  for (auto& [key, activity] : newest_first(step, request)) {
    if (!passes(filters, FilterFacts{{"Status", activity->status}}) || !page.wants(key)) continue;
    if (!page.add(key)) break;
    response.activities.push_back(describe_activity(step, *activity));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::autoscaling
