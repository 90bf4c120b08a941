#include "sim/task_set_clients.h"

#include <algorithm>

namespace sim {

void TaskSetClients::act(const PlannedTaskSetCall& call) {
  using enum PlannedTaskSetCall::Kind;
  if (call.kind == Create) return make(call);
  if (call.kind == Describe) return describe(call.service);
  const std::vector<std::string>& sets = sets_[call.service];
  if (sets.empty()) return;
  const std::string set = sets[environment_.random.below(sets.size())];
  switch (call.kind) {
    case Scale:
      return scale(call.service, set, call.percent);
    case Promote:
      return promote(call.service, set);
    case Delete:
    case ForceDelete:
      return remove(call.service, set, call.kind == ForceDelete);
    case Create:
    case Describe:
      return;
  }
}

void TaskSetClients::make(const PlannedTaskSetCall& call) {
  api::ecs::CreateTaskSetRequest request;
  request.cluster = "default";
  request.service = call.service;
  request.task_definition = call.family;
  api::ecs::Scale& scale = request.scale.emplace();
  scale.unit = api::ecs::ScaleUnit::Percent;
  scale.value = call.percent;
  request.client_token = base::format("set-{}", ++made_);
  environment_.tell(client_name, "{}: makes {} of {} at {} %", call.service, *request.client_token,
                    call.family, call.percent);
  using Response = api::ecs::CreateTaskSetResponse;
  caller_.insist<Response>("CreateTaskSet", request,
                           [this, service = call.service,
                            token = *request.client_token](const base::Result<Response>& made) {
                             if (!made) {
                               return environment_.tell(client_name, "{}: {} is refused: {}",
                                                        service, token, made.error().message);
                             }
                             const std::string arn = made->task_set->task_set_arn.value_or("");
                             environment_.tell(client_name, "{}: {} is task set {}", service, token,
                                               short_name(arn));
                             sets_[service].push_back(arn);
                           });
}

void TaskSetClients::note(const std::string& service, const std::string& set,
                          const base::Error& refusal) {
  environment_.tell(client_name, "{}: task set {}: refused: {}", service, short_name(set),
                    refusal.message);
  if (refusal.code == "TaskSetNotFoundException") std::erase(sets_[service], set);
}

void TaskSetClients::scale(const std::string& service, const std::string& set, int32_t percent) {
  environment_.tell(client_name, "{}: scales task set {} to {} %", service, short_name(set),
                    percent);
  api::ecs::UpdateTaskSetRequest request;
  request.cluster = "default";
  request.service = service;
  request.task_set = set;
  api::ecs::Scale& scale = request.scale.emplace();
  scale.unit = api::ecs::ScaleUnit::Percent;
  scale.value = percent;
  using Response = api::ecs::UpdateTaskSetResponse;
  caller_.insist<Response>("UpdateTaskSet", request,
                           [this, service, set](const base::Result<Response>& scaled) {
                             if (!scaled) note(service, set, scaled.error());
                           });
}

void TaskSetClients::promote(const std::string& service, const std::string& set) {
  environment_.tell(client_name, "{}: makes task set {} the PRIMARY one", service, short_name(set));
  api::ecs::UpdateServicePrimaryTaskSetRequest request;
  request.cluster = "default";
  request.service = service;
  request.primary_task_set = set;
  using Response = api::ecs::UpdateServicePrimaryTaskSetResponse;
  caller_.insist<Response>("UpdateServicePrimaryTaskSet", request,
                           [this, service, set](const base::Result<Response>& made) {
                             if (!made) note(service, set, made.error());
                           });
}

void TaskSetClients::remove(const std::string& service, const std::string& set, bool force) {
  environment_.tell(client_name, "{}: deletes task set {}{}", service, short_name(set),
                    force ? " with force" : "");
  api::ecs::DeleteTaskSetRequest request;
  request.cluster = "default";
  request.service = service;
  request.task_set = set;
  if (force) request.force = true;
  using Response = api::ecs::DeleteTaskSetResponse;
  caller_.insist<Response>("DeleteTaskSet", request,
                           [this, service, set](const base::Result<Response>& deleted) {
                             if (!deleted) note(service, set, deleted.error());
                           });
}

void TaskSetClients::describe(const std::string& service) {
  api::ecs::DescribeTaskSetsRequest request;
  request.cluster = "default";
  request.service = service;
  caller_.call<api::ecs::DescribeTaskSetsResponse>("DescribeTaskSets", request);
}

}  // namespace sim
