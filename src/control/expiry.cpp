#include "control/expiry.h"

#include <algorithm>
#include <set>
#include <vector>

#include "control/services/carry_out.h"

namespace control {
namespace {

constexpr base::Milliseconds expiry_interval{10'000};
constexpr base::Milliseconds join_token_kept{24 * 3'600'000};  // To tell why it is refused.
constexpr size_t most_expired_at_once = 1000;  // Bounds one step and its transaction.
// Until the next step where there are more: calls have their turn in between.
constexpr base::Milliseconds between_steps{100};

// True: there may be more.
bool expire_tasks(Step& step) {
  const auto& stopped = step.state().stopped_tasks;
  for (size_t i = 0; i < most_expired_at_once; ++i) {
    if (stopped.empty()) return false;
    const auto [stopped_at, arn] = *stopped.begin();
    if (stopped_at + step.settings.stopped_task_kept > step.now) return false;
    step.change(model::TaskExpired{arn});
  }
  return true;
}

void expire_client_tokens(Step& step) {
  std::vector<model::ClientTokenExpired> expired;
  for (const auto& [key, token] : step.state().client_tokens) {
    if (token.used_at + step.settings.client_token_kept <= step.now) {
      expired.push_back({key.first, key.second});
    }
  }
  for (model::ClientTokenExpired& one : expired) step.change(std::move(one));
}

// Its machine may register anew, and nobody has proven the GPU empty.
bool has_quarantined_gpu(const model::ContainerInstance& instance) {
  return std::ranges::any_of(instance.gpus, [](const model::GpuSlot& gpu) {
    return gpu.state == model::GpuState::Quarantined;
  });
}

void forget_instances(Step& step) {
  std::vector<model::InstanceArn> gone;
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.status == model::InstanceStatus::Inactive && instance.tasks.empty() &&
        !has_quarantined_gpu(instance) &&
        instance.connected_changed_at + step.settings.stopped_task_kept <= step.now) {
      gone.push_back(arn);
    }
  }
  for (const model::InstanceArn& arn : gone) step.change(model::InstanceForgotten{arn});
}

void forget_services(Step& step) {
  std::vector<model::ServiceArn> gone;
  for (const auto& [arn, service] : step.state().services) {
    if (service.inactive_at && *service.inactive_at + step.settings.stopped_task_kept <= step.now) {
      gone.push_back(arn);
    }
  }
  for (const model::ServiceArn& arn : gone) forget_service(step, arn);
}

// Those that were asked to go. Tasks keep one while they are described after their end too,
// services one that they may go back to.
std::set<model::TaskDefinitionArn> definitions_to_delete(const model::ClusterState& state) {
  std::set<model::TaskDefinitionArn> asked;
  for (const auto& [family, revisions] : state.task_definitions) {
    for (const auto& [revision, definition] : revisions) {
      if (definition.definition.status == api::ecs::TaskDefinitionStatus::DeleteInProgress) {
        asked.emplace(definition.definition.task_definition_arn.value_or(""));
      }
    }
  }
  if (asked.empty()) return asked;
  for (const auto& [arn, task] : state.tasks) asked.erase(task.definition);
  for (const auto& [arn, revision] : state.service_revisions) {
    asked.erase(revision.source.task_definition);
  }
  for (const auto& [arn, service] : state.services) {
    asked.erase(service.source.task_definition);
    for (const model::TaskSet& set : service.task_sets) asked.erase(set.source.task_definition);
  }
  return asked;
}

void delete_task_definitions_left(Step& step) {
  size_t left = most_expired_at_once;
  for (const model::TaskDefinitionArn& arn : definitions_to_delete(step.state())) {
    if (left-- == 0) return;
    step.change(model::TaskDefinitionDeleted{arn});
  }
}

void expire_join_tokens(Step& step) {
  std::vector<model::JoinTokenRemoved> expired;
  for (const auto& [id, token] : step.state().join_tokens) {
    if (token.expires_at + join_token_kept <= step.now) expired.push_back({id});
  }
  for (model::JoinTokenRemoved& one : expired) step.change(std::move(one));
}

}  // namespace

Expiry::Expiry(base::Time now) : next_(now + expiry_interval), next_tasks_(next_) {}

void Expiry::tick(Step& step) {
  if (step.now >= next_tasks_) {
    next_tasks_ = step.now + (expire_tasks(step) ? between_steps : expiry_interval);
  }
  if (step.now < next_) return;
  expire_client_tokens(step);
  forget_instances(step);
  expire_join_tokens(step);
  forget_services(step);
  delete_task_definitions_left(step);
  next_ = step.now + expiry_interval;
}

}  // namespace control
