#include <algorithm>

#include "base/format.h"
#include "control/autoscaling/actions/actions.h"
#include "control/autoscaling/errors.h"
#include "control/autoscaling/lookup.h"

namespace control::autoscaling {
namespace {
constexpr size_t most_instances = 50;
}  // namespace

Answer<api::autoscaling::SetInstanceProtectionAnswer> set_instance_protection(
    Step& step, const api::autoscaling::SetInstanceProtectionQuery& request) {
  model::AutoScalingGroup group = *TRY(require_group(step, request.auto_scaling_group_name));
  if (request.instance_ids.empty() || request.instance_ids.size() > most_instances) {
    return validation_error(base::format("InstanceIds has {} members; it must have 1 to {}.",
                                         request.instance_ids.size(), most_instances));
  }
  for (const std::string& id : request.instance_ids) {
    const auto machine = std::ranges::find(group.machines, id, &model::Machine::id);
    if (id.empty() || machine == group.machines.end()) {
      return validation_error(
          base::format("The instance {} is not part of Auto Scaling group {}.", id, group.name));
    }
    machine->scale_in_protected = request.protected_from_scale_in.value_or(false);
  }
  step.change(model::AutoScalingGroupPut{std::move(group)});
  return api::autoscaling::SetInstanceProtectionAnswer{};
}

}  // namespace control::autoscaling
