#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/ecs/explanation.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/tasks/task_plan.h"

namespace control::ecs {
namespace {

base::Result<void> check_start(const api::ecs::StartTaskRequest& request) {
  if (request.container_instances.empty() || request.container_instances.size() > 10) {
    return invalid_parameter("containerInstances must name between 1 and 10 instances.");
  }
  if (!request.volume_configurations.empty()) {
    return client_error("volumeConfigurations needs Amazon EBS, which Berth does not offer.");
  }
  return {};
}

// One task on one named instance; a failure with ECS's reason where that cannot be.
void start_on(Step& step, const TaskPlan& plan, const model::ContainerInstance& instance,
              api::ecs::StartTaskResponse& response) {
  if (instance.status == model::InstanceStatus::Inactive) {
    response.failures.push_back(failure(instance.arn.str(), placement::reason_inactive));
    return;
  }
  auto placed = step.engine.place_on(step.state(), plan.request, instance.arn);
  if (!placed) {
    response.failures.push_back(
        failure(placed.error().instance.str(), placed.error().reason, placed.error().detail));
    return;
  }
  const model::Task& task = start_planned_task(step, plan, std::move(*placed));
  response.tasks.push_back(describe_task(step, task, true));
}

}  // namespace

Answer<api::ecs::StartTaskResponse> start_task(Step& step,
                                               const api::ecs::StartTaskRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "StartTask", cluster->name));
  TRY_VOID(check_start(request));
  const model::TaskDefinition* const definition =
      TRY(require_definition_to_run(step, request.task_definition.value_or("")));
  const TaskPlan plan =
      TRY(plan_task(step, *cluster, *definition,
                    {.overrides = request.overrides,
                     .group = request.group,
                     .started_by = request.started_by,
                     .launch_type = {},
                     .tags = request.tags,
                     .propagate_definition_tags =
                         request.propagate_tags == api::ecs::PropagateTags::TaskDefinition,
                     .enable_execute_command = request.enable_execute_command.value_or(false),
                     .network_configuration = request.network_configuration}));

  const bool dry = request.berth_explain.value_or(false);  // Explained, not started.
  api::ecs::StartTaskResponse response;
  response.tasks.set_present();
  response.failures.set_present();
  std::vector<model::InstanceArn> explained;
  for (const std::string& text : request.container_instances) {
    const model::ContainerInstance* const instance = find_instance(step, cluster->name, text);
    if (instance != nullptr && dry) {
      explained.push_back(instance->arn);
    } else if (instance != nullptr) {
      start_on(step, plan, *instance, response);
    } else {
      const std::string arn =
          text.starts_with("arn:")
              ? text
              : model::instance_arn(step.settings.account, cluster->name, text).str();
      response.failures.push_back(failure(arn, placement::reason_missing));
    }
  }
  if (dry) response.berth_explanation = explain_start(step, plan, explained);
  return response;
}

}  // namespace control::ecs
