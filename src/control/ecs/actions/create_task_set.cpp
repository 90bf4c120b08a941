#include <algorithm>

#include "base/format.h"
#include "control/ecs/actions/actions.h"
#include "control/ecs/describe_service.h"
#include "control/ecs/service_lookup.h"
#include "control/ecs/task_sets.h"
#include "control/request/client_tokens.h"
#include "control/request/errors.h"
#include "control/request/lookup.h"
#include "control/request/tags.h"
#include "control/services/rules.h"
#include "control/services/service_tasks.h"

namespace control::ecs {
namespace {

constexpr size_t most_task_sets = 5;
constexpr uint32_t id_digits = 19;

// The task set that an earlier call with this clientToken made; nullptr: none did.
base::Result<const model::TaskSet*> made_before(const model::Service& service,
                                                const api::ecs::CreateTaskSetRequest& request) {
  if (!request.client_token || request.client_token->empty()) return nullptr;
  const auto found =
      std::ranges::find(service.task_sets, *request.client_token, &model::TaskSet::client_token);
  if (found == service.task_sets.end()) return nullptr;
  if (found->request_hash != call_fingerprint(request)) {
    return invalid_parameter(base::format(
        "The clientToken {} was used before with other parameters.", *request.client_token));
  }
  return &*found;
}

base::Result<model::TaskSet> task_set_of(Step& step, const model::Cluster& cluster,
                                         const model::Service& service,
                                         const api::ecs::CreateTaskSetRequest& request) {
  TRY_VOID(check_offered(request));
  TRY_VOID(check_tags(request.tags, "task set"));
  if (service.task_sets.size() >= most_task_sets) {
    return base::fail(
        "LimitExceededException",
        base::format("A service has at most {} task sets: delete one first.", most_task_sets));
  }
  const model::TaskDefinition* const definition =
      TRY(require_definition_to_run(step, request.task_definition.value_or("")));
  model::TaskSet made;
  made.source.task_definition =
      model::TaskDefinitionArn(definition->definition.task_definition_arn.value_or(""));
  if (request.launch_type || !request.capacity_provider_strategy.empty()) {
    TRY_VOID(take_capacity(step, cluster, service.scheduling, request, made.source));
  } else {
    made.source.launch_type = service.source.launch_type;
    made.source.capacity_provider_strategy = service.source.capacity_provider_strategy;
  }
  made.source.network_configuration = request.network_configuration
                                          ? named_network(request.network_configuration)
                                          : service.source.network_configuration;
  made.scale_percent = request.scale ? TRY(scale_percent_of(*request.scale)) : 0;
  made.external_id = request.external_id.value_or("");
  made.client_token = request.client_token.value_or("");
  made.request_hash = call_fingerprint(request);
  made.tags = request.tags;
  made.created_at = step.now;
  made.updated_at = step.now;
  made.stability_at = step.now;
  TRY_VOID(check_service_task(step, service, made.source));
  made.id = "ecs-svc/";
  for (uint32_t i = 0; i < id_digits; ++i) {
    made.id += static_cast<char>('0' + step.random.below(10));
  }
  return made;
}

}  // namespace

Answer<api::ecs::CreateTaskSetResponse> create_task_set(
    Step& step, const api::ecs::CreateTaskSetRequest& request) {
  const model::Cluster* const cluster = TRY(require_cluster(step, request.cluster));
  TRY_VOID(allow(step, "CreateTaskSet", cluster->name));
  const model::Service* const service =
      TRY(require_active_service(step, cluster->name, request.service));
  TRY_VOID(require_external(*service));
  api::ecs::CreateTaskSetResponse response;
  if (const model::TaskSet* const before = TRY(made_before(*service, request))) {
    response.task_set = describe_task_set(step, *service, *before, true);
    return response;
  }
  model::TaskSet made = TRY(task_set_of(step, *cluster, *service, request));
  model::Service updated = *service;
  updated.task_sets.push_back(std::move(made));
  step.change(model::ServicePut{std::move(updated)});
  response.task_set = describe_task_set(step, *service, service->task_sets.back(), true);
  return response;
}

}  // namespace control::ecs
