#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "base/format.h"
#include "control/ec2/actions/actions.h"
#include "control/ec2/lists.h"

namespace control::ec2 {
namespace {

constexpr std::array<std::string_view, 7> zone_filters{
    "group-name", "opt-in-status", "region-name", "state", "zone-id", "zone-name", "zone-type"};

// Those in which machines are, and the one that machines are in that name none.
std::set<std::string> zones(const Step& step) {
  std::set<std::string> found{step.settings.account.region + "a"};
  for (const auto& [arn, instance] : step.state().instances) {
    const auto zone = instance.attributes.find("ecs.availability-zone");
    if (zone != instance.attributes.end() && !zone->second.empty()) found.insert(zone->second);
  }
  for (const auto& [name, group] : step.state().auto_scaling_groups) {
    found.insert(group.availability_zones.begin(), group.availability_zones.end());
  }
  return found;
}

bool names_zone(const api::List<std::string>& names, const std::string& zone) {
  return names.empty() || std::ranges::find(names, zone) != names.end();
}

}  // namespace

// A zone's id is its name: there is one account, so that both mean the same to everybody.
Answer<api::ec2::DescribeAvailabilityZonesResult> describe_availability_zones(
    Step& step, const api::ec2::DescribeAvailabilityZonesRequest& request) {
  const auto filters = TRY(known_filters(request.filters, zone_filters));
  const std::string& region = step.settings.account.region;
  const std::set<std::string> all = zones(step);
  for (const auto* const names : {&request.zone_names, &request.zone_ids}) {
    for (const std::string& name : *names) {
      if (all.contains(name)) continue;
      return base::fail("InvalidParameterValue",
                        base::format("Invalid availability zone: [{}]. Those of this server are: "
                                     "{}.",
                                     name, base::join(all, ", ")));
    }
  }
  api::ec2::DescribeAvailabilityZonesResult response;
  response.availability_zones.set_present();
  for (const std::string& zone : all) {
    const FilterFacts facts{{"zone-name", zone},
                            {"zone-id", zone},
                            {"region-name", region},
                            {"group-name", region},
                            {"state", "available"},
                            {"opt-in-status", "opt-in-not-required"},
                            {"zone-type", "availability-zone"}};
    if (!names_zone(request.zone_names, zone) || !names_zone(request.zone_ids, zone) ||
        !passes(filters, facts)) {
      continue;
    }
    api::ec2::AvailabilityZone told;
    told.zone_name = told.zone_id = zone;
    told.region_name = told.group_name = told.network_border_group = region;
    told.state = api::ec2::AvailabilityZoneState::Available;
    told.opt_in_status = api::ec2::AvailabilityZoneOptInStatus::OptInNotRequired;
    told.zone_type = "availability-zone";
    told.messages.set_present();
    response.availability_zones.push_back(std::move(told));
  }
  return response;
}

}  // namespace control::ec2
