#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/tasks/task_end.h"

namespace control::ecs {

Answer<api::ecs::DeregisterContainerInstanceResponse> deregister_container_instance(
    Step& step, const api::ecs::DeregisterContainerInstanceRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  const model::ContainerInstance* const instance =
      TRY(require_instance(step, cluster->name, request.container_instance.value_or("")));
  TRY_VOID(allow(step, "DeregisterContainerInstance", cluster->name, instance->arn.str()));
  if (instance->status == model::InstanceStatus::Inactive) {
    return invalid_parameter("The container instance has been deregistered already.");
  }
  if (!instance->tasks.empty() && !request.force.value_or(false)) {
    return invalid_parameter(base::format(
        "Found running tasks on the instance: {}. Stop them, or deregister with force, which gives "
        "them up.",
        instance->tasks.begin()->str()));
  }
  const std::set<model::TaskArn> tasks = instance->tasks;
  for (const model::TaskArn& arn : tasks) {
    give_up_task(step, arn, "Container instance deregistered (forced by a user)");
  }
  step.change(model::InstanceDeregistered{instance->arn, step.now});
  api::ecs::DeregisterContainerInstanceResponse response;
  response.container_instance = describe_instance(step, *instance, false);
  return response;
}

}  // namespace control::ecs
