#include "control/core.h"

#include <algorithm>

#include "control/actions/actions.h"

namespace control {
namespace {

constexpr base::Milliseconds expiry_interval{10'000};
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

void forget_instances(Step& step) {
  std::vector<model::InstanceArn> gone;
  for (const auto& [arn, instance] : step.state().instances) {
    if (instance.status == model::InstanceStatus::Inactive && instance.tasks.empty() &&
        instance.connected_changed_at + step.settings.stopped_task_kept <= step.now) {
      gone.push_back(arn);
    }
  }
  for (const model::InstanceArn& arn : gone) step.change(model::InstanceForgotten{arn});
}

}  // namespace

Core::Core(model::ClusterState state, Settings settings, uint64_t seed, base::Time now)
    : state_(std::move(state)),
      settings_(std::move(settings)),
      random_(seed),
      sessions_(state_, settings_, now),
      next_expiry_(now + expiry_interval) {
  engine_.reset(state_);
}

Output Core::step(Input input, base::Time now) {
  Output output;
  Step step(state_, engine_, random_, settings_, now, output);
  if (auto* const call = std::get_if<ApiCall>(&input)) {
    call_action(step, *call, output);
  } else if (const auto* const opened = std::get_if<SessionOpened>(&input)) {
    sessions_.open(step, output, *opened);
  } else if (const auto* const message = std::get_if<SessionMessage>(&input)) {
    sessions_.receive(step, output, *message);
  } else if (const auto* const closed = std::get_if<SessionClosed>(&input)) {
    sessions_.close(step, *closed);
  } else {
    sessions_.tick(step, output);
    if (now >= next_expiry_) expire(step);
  }
  sessions_.announce(step, output, 0);
  return output;
}

void Core::call_action(Step& step, ApiCall& call, Output& output) {
  step.caller = std::move(call.caller);
  const Action* const action = find_action(call.operation->name);
  auto result = action == nullptr ? base::Result<api::Any>(base::fail(not_offered("ecs", call.operation->name)))
                                  : action->call(step, call.input);
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
  next_expiry_ = step.now + expiry_interval;
}

base::Time Core::next_timer() const { return std::min(sessions_.next_tick(), next_expiry_); }

}  // namespace control
