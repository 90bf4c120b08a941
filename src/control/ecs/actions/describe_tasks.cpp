#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/ecs/explanation.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DescribeTasksResponse> describe_tasks(
    Step& step, const api::ecs::DescribeTasksRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DescribeTasks", cluster->name));
  if (request.tasks.empty()) return invalid_parameter("Tasks cannot be empty.");
  if (request.tasks.size() > 100) {
    return invalid_parameter("At most 100 tasks can be described in one call.");
  }
  const bool tags =
      std::ranges::find(request.include, api::ecs::TaskField::Tags) != request.include.end();
  api::ecs::DescribeTasksResponse response;
  response.tasks.set_present();
  response.failures.set_present();
  for (const std::string& text : request.tasks) {
    const model::Task* const task = find_task(step, cluster->name, text);
    if (task != nullptr) {
      response.tasks.push_back(describe_task(step, *task, tags));
      if (request.berth_explain.value_or(false)) {
        response.berth_explanation.push_back(explain_held(step, *task));
      }
      continue;
    }
    const std::string arn = text.starts_with("arn:")
                                ? text
                                : model::task_arn(step.settings.account, cluster->name, text).str();
    response.failures.push_back(failure(arn, placement::reason_missing));
  }
  return response;
}

}  // namespace control::ecs
