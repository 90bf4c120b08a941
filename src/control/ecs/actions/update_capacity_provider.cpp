#include "base/format.h"
#include "control/capacity/groups/machines.h"
#include "control/capacity/providers.h"
#include "control/ecs/actions/actions.h"
#include "control/request/errors.h"

namespace control::ecs {

Answer<api::ecs::UpdateCapacityProviderResponse> update_capacity_provider(
    Step& step, const api::ecs::UpdateCapacityProviderRequest& request) {
  const model::CapacityProvider* const before =
      TRY(require_provider(step, "name", request.name.value_or("")));
  TRY_VOID(check_provider_kind(request.managed_instances_provider.has_value(),
                               request.auto_scaling_group_provider.has_value()));
  const api::ecs::AutoScalingGroupProviderUpdate& asked = *request.auto_scaling_group_provider;
  model::CapacityProvider made = *before;
  made.group.managed_scaling =
      TRY(managed_scaling_of(asked.managed_scaling, before->group.managed_scaling));
  if (asked.managed_termination_protection) {
    made.group.managed_termination_protection = asked.managed_termination_protection;
  }
  if (asked.managed_draining) made.group.managed_draining = asked.managed_draining;
  const model::AutoScalingGroup* const group = group_of_provider(step.state(), made);
  if (group == nullptr) {
    return client_error(base::format("The Auto Scaling group {} of the capacity provider is gone.",
                                     made.group.auto_scaling_group_arn.value_or("")));
  }
  TRY_VOID(check_termination_protection(made.group, *group));
  made.update_status = api::ecs::CapacityProviderUpdateStatus::UpdateComplete;
  made.update_status_reason.clear();
  step.change(model::CapacityProviderPut{made});
  api::ecs::UpdateCapacityProviderResponse response;
  response.capacity_provider = describe_provider(step, made, true);
  return response;
}

}  // namespace control::ecs
