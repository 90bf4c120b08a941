#include <map>

#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/describe.h"
#include "control/autoscaling/lists.h"

namespace control::autoscaling {

Answer<api::autoscaling::AutoScalingInstancesType> describe_auto_scaling_instances(
    Step& step, const api::autoscaling::DescribeAutoScalingInstancesType& request) {
  Page page(TRY(records_request(request.next_token, request.max_records, 50)));
  std::map<std::string, std::pair<const model::AutoScalingGroup*, const model::Machine*>> by_id;
  for (const auto& [name, group] : step.state().auto_scaling_groups) {
    for (const model::Machine& machine : group.machines) {
      if (machine.id.empty() || !wants(request.instance_ids, machine.id)) continue;
      by_id.emplace(machine.id, std::pair(&group, &machine));
    }
  }
  api::autoscaling::AutoScalingInstancesType response;
  response.auto_scaling_instances.set_present();
  for (const auto& [id, found] : by_id) {
    if (!page.wants(id)) continue;
    if (!page.add(id)) break;
    response.auto_scaling_instances.push_back(describe_machine(step, *found.first, *found.second));
  }
  response.next_token = page.next_token;
  return response;
}

}  // namespace control::autoscaling
