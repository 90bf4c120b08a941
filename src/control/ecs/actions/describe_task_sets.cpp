#include <algorithm>

#include "control/ecs/actions/actions.h"
#include "control/ecs/describe.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/request/lookup.h"

namespace control::ecs {

Answer<api::ecs::DescribeTaskSetsResponse> describe_task_sets(
    Step& step, const api::ecs::DescribeTaskSetsRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "DescribeTaskSets", cluster->name));
  const model::Service* const service =
      TRY(require_active_service(step, cluster->name, request.service));
  TRY_VOID(require_external(*service));
  const bool tags =
      std::ranges::find(request.include, api::ecs::TaskSetField::Tags) != request.include.end();
  api::ecs::DescribeTaskSetsResponse response;
  response.task_sets.set_present();
  response.failures.set_present();
  if (request.task_sets.empty()) {
    for (const model::TaskSet& set : service->task_sets) {
      response.task_sets.push_back(describe_task_set(step, *service, set, tags));
    }
    return response;
  }
  for (const std::string& text : request.task_sets) {
    const auto set = require_task_set(*service, text);
    if (set) {
      response.task_sets.push_back(describe_task_set(step, *service, **set, tags));
    } else {
      response.failures.push_back(failure(text, placement::reason_missing));
    }
  }
  return response;
}

}  // namespace control::ecs
