#include "control/core.h"

#include <algorithm>
#include <set>

#include "auth/permission.h"
#include "control/actions/actions.h"
#include "control/agent_keys.h"
#include "control/services/carry_out.h"
#include "control/tags.h"
#include "control/telemetry.h"

namespace control {
namespace {

constexpr base::Milliseconds expiry_interval{10'000};
constexpr base::Milliseconds join_token_kept{24 * 3'600'000};  // To tell why it is refused.
constexpr size_t most_expired_at_once = 1000;  // Bounds one step and its transaction.

void expire_tasks(Step& step) {
  const auto& stopped = step.state().stopped_tasks;
  for (size_t i = 0; i < most_expired_at_once && !stopped.empty(); ++i) {
    const auto [stopped_at, arn] = *stopped.begin();
    if (stopped_at + step.settings.stopped_task_kept > step.now) return;
    step.change(model::TaskExpired{arn});
  }
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

// Restricted keys are held here to their operations, and by each operation to what is their own.
base::Result<api::Any> answer(Step& step, const ApiCall& call) {
  step.caller.access = TRY(current_access(step));
  TRY_VOID(auth::allow(step.caller,
                       {.service = step.caller.service, .operation = call.operation->name}));
  const Action* const action = find_action(step.caller.service, call.operation->name);
  if (action == nullptr) {
    return base::fail(not_offered(step.caller.service, call.operation->name));
  }
  return action->call(step, call.input);
}

}  // namespace

Core::Core(model::ClusterState state, Settings settings, uint64_t seed, base::Time now)
    : state_(std::move(state)),
      settings_(std::move(settings)),
      random_(seed),
      sessions_(state_, settings_, now),
      services_(state_, now),
      waiting_(state_, now),
      machines_(state_, settings_, now),
      next_expiry_(now + expiry_interval) {
  for (const auto& [name, cluster] : state_.clusters) {
    if (!cluster.tags.empty()) follow_placement_policy(state_, name, engine_);
  }
  engine_.reset(state_);
}

Output Core::step(Input input, base::Time now) {
  Output output;
  Step step(state_, engine_, random_, settings_, queue_notes_, now, output);
  if (auto* const call = std::get_if<ApiCall>(&input)) {
    call_action(step, *call, output);
  } else if (const auto* const opened = std::get_if<SessionOpened>(&input)) {
    sessions_.open(step, output, *opened);
  } else if (const auto* const message = std::get_if<SessionMessage>(&input)) {
    sessions_.receive(step, output, *message);
  } else if (const auto* const closed = std::get_if<SessionClosed>(&input)) {
    sessions_.close(step, *closed);
  } else if (const auto* const telemetry = std::get_if<TelemetryReceived>(&input)) {
    take_telemetry(step, *telemetry);
  } else if (const auto* const report = std::get_if<MachineReport>(&input)) {
    machines_.take(step, *report);
  } else {
    sessions_.tick(step, output);
    if (now >= next_expiry_) expire(step);
  }
  services_.observe(step, output, 0);
  services_.tick(step);
  const size_t seen_by_services = output.changes.size();
  waiting_.observe(step, output, 0);
  waiting_.tick(step);
  machines_.observe(step, output);
  machines_.tick(step, output);
  services_.observe(step, output, seen_by_services);
  waiting_.observe(step, output, seen_by_services);
  sessions_.announce(step, output, 0);
  return output;
}

void Core::call_action(Step& step, ApiCall& call, Output& output) {
  step.caller = std::move(call.caller);
  auto result = answer(step, call);
  if (result) {
    output.replies.push_back({call.id, std::move(*result)});
  } else {
    output.replies.push_back({call.id, std::unexpected(std::move(result).error())});
  }
}

void Core::expire(Step& step) {
  expire_tasks(step);
  expire_client_tokens(step);
  forget_instances(step);
  expire_join_tokens(step);
  forget_services(step);
  delete_task_definitions_left(step);
  next_expiry_ = step.now + expiry_interval;
}

base::Time Core::next_timer() const {
  return std::min({sessions_.next_tick(), services_.next_tick(), waiting_.next_tick(),
                   machines_.next_tick(), next_expiry_});
}

}  // namespace control
