// Registration, the control stream, and what the server says on it.

#include <algorithm>
#include <map>
#include <utility>

#include "agent/core/journal.h"
#include "agent/core/payload.h"
#include "agent/core/step.h"
#include "base/format.h"

namespace agent::core {
namespace {

constexpr std::string_view execution_role = "TaskExecution";
constexpr base::Milliseconds refused_wait = std::chrono::minutes(1);

acs::AckRequest ack(const State& state, const std::string& message_id) {
  return {.cluster = state.config.cluster,
          .container_instance = state.instance_arn,
          .message_id = message_id};
}

void adopt(Step& step, Task task) {
  const std::string arn = task.record.arn;
  step.out.journal.push_back(payload_write(task.payload));
  step.state.tasks.insert_or_assign(arn, std::move(task));
  step.touched.insert(arn);
}

void adopt_stopped(Step& step, const acs::Task& payload, const std::string& reason) {
  Task task = make_stopped_task(payload, reason, step.now);
  // It has no dependencies that matter: nothing of it is ever started.
  const base::Result<void> complete = complete_task(task);
  if (!complete) task.dependencies.assign(task.record.containers.size(), {});
  adopt(step, std::move(task));
}

void adopt_running(Step& step, const acs::Task& payload) {
  Task task = make_task(payload, step.state.random, step.now);
  if (const base::Result<void> complete = complete_task(task); !complete) {
    // Kept, acknowledged and reported STOPPED: the control plane's mistake, told as such.
    const std::string reason = complete.error().code + ": " + complete.error().message;
    note(step, Note::Level::Warning, base::format("Task {}: {}", payload.arn, reason));
    return adopt_stopped(step, payload, reason);
  }
  note(step, Note::Level::Info,
       base::format("Task {} ({}:{}) is accepted.", payload.arn, payload.family, payload.version));
  adopt(step, std::move(task));
}

// A task that the agent knows: only the wish to stop it, and who asks again for its end, matter.
void update_known(Step& step, Task& task, const acs::Task& payload) {
  if (task.all_stopped()) {
    task.record.accepted.clear();  // The server has not seen the end: it is told again.
    task.submit_at = step.now;
  } else if (payload.desired_status == "STOPPED") {
    begin_stop(step, task, payload.berth_stop_reason);
  }
  step.touched.insert(payload.arn);
}

// False: it could not be handled, and its message must not be acknowledged.
bool accept_task(Step& step, acs::Task payload, const std::string& message_id) {
  bool has_execution_keys = false;
  for (auto& [role, keys] : take_credentials(payload)) {
    has_execution_keys = has_execution_keys || role == execution_role;
    step.out.messages.emplace_back(
        acs::IAMRoleCredentialsAckRequest{.credentials_id = keys.credentials_id,
                                          .expiration = keys.expiration,
                                          .message_id = message_id});
    step.out.credentials.push_back({payload.arn, role, std::move(keys)});
  }
  const auto known = step.state.tasks.find(payload.arn);
  if (known != step.state.tasks.end()) {
    if (has_execution_keys) known->second.has_execution_keys = true;
    update_known(step, known->second, payload);
    return true;
  }
  if (const base::Result<void> checked = check_payload(payload); !checked) {
    const std::string reason = checked.error().code + ": " + checked.error().message;
    note(step, Note::Level::Error, base::format("Task '{}': {}", payload.arn, reason));
    if (!payload.arn.empty()) adopt_stopped(step, payload, reason);
    return false;
  }
  if (step.state.remembered.contains(payload.arn)) {
    adopt_stopped(step, payload, "The task had stopped before.");
  } else if (payload.desired_status == "STOPPED") {
    adopt_stopped(step, payload, "The task never started on this container instance.");
  } else {
    adopt_running(step, payload);
    step.state.tasks.at(payload.arn).has_execution_keys = has_execution_keys;
  }
  return true;
}

void on_payload(Step& step, acs::PayloadMessage& message) {
  if (!acs::accept_payload(message, step.state.progress)) {
    return note(step, Note::Level::Warning,
                "A payload without cluster, instance or message id is ignored.");
  }
  bool all_handled = true;
  // Stops first: what they free, the starts may need.
  for (const bool stops : {true, false}) {
    for (acs::Task& task : message.tasks) {
      if ((task.desired_status == "STOPPED") != stops) continue;
      all_handled = accept_task(step, task, message.message_id) && all_handled;
    }
  }
  if (all_handled) step.out.messages.emplace_back(ack(step.state, message.message_id));
}

void on_manifest(Step& step, const acs::TaskManifestMessage& message) {
  if (!acs::accept_manifest(message, step.state.progress)) {
    return note(step, Note::Level::Warning,
                base::format("A task manifest of timeline {} is out of date and ignored.",
                             message.timeline));
  }
  step.out.messages.emplace_back(ack(step.state, message.message_id));
  std::map<std::string_view, std::string_view> wanted;
  for (const acs::TaskIdentifier& task : message.tasks) {
    wanted.emplace(task.task_arn, task.desired_status);
  }
  acs::TaskStopVerificationMessage verification{.message_id = message.message_id,
                                                .stop_candidates = {}};
  for (auto& [arn, task] : step.state.tasks) {
    const auto found = wanted.find(arn);
    if (found == wanted.end() && !task.record.given_up) {
      task.record.given_up = true;
      step.touched.insert(arn);
    }
    if (task.record.stop_desired || task.all_stopped()) continue;
    if (found != wanted.end() && found->second == "RUNNING") continue;
    verification.stop_candidates.push_back({.task_arn = arn,
                                            .task_cluster_arn = task.payload.task_cluster_arn,
                                            .desired_status = "STOPPED"});
  }
  if (!verification.stop_candidates.empty()) {
    step.out.messages.emplace_back(std::move(verification));
  }
}

void on_stop_ack(Step& step, const acs::TaskStopVerificationAck& message) {
  if (!acs::accept_stop_ack(message, step.state.progress)) return;
  for (const acs::TaskIdentifier& stop : message.stop_tasks) {
    const auto task = step.state.tasks.find(stop.task_arn);
    if (task == step.state.tasks.end()) continue;
    begin_stop(step, task->second, "The control plane no longer wants the task.");
  }
}

void on_credentials(Step& step, const acs::IAMRoleCredentialsMessage& message) {
  if (message.message_id.empty() || message.task_arn.empty() || !message.role_credentials) {
    return note(step, Note::Level::Warning, "A credentials message without content is ignored.");
  }
  const auto known = step.state.tasks.find(message.task_arn);
  if (known == step.state.tasks.end()) return;
  if (message.role_type == execution_role) {
    known->second.has_execution_keys = true;
    step.touched.insert(message.task_arn);
  }
  step.out.credentials.push_back({message.task_arn, message.role_type, *message.role_credentials});
  step.out.messages.emplace_back(
      acs::IAMRoleCredentialsAckRequest{.credentials_id = message.role_credentials->credentials_id,
                                        .expiration = message.role_credentials->expiration,
                                        .message_id = message.message_id});
}

void refuse_update(Step& step, const std::string& message_id) {
  step.out.messages.emplace_back(acs::NackRequest{
      .cluster = step.state.config.cluster,
      .container_instance = step.state.instance_arn,
      .message_id = message_id,
      .reason = "This agent is updated with its package, not by the control plane."});
}

void on_server_error(Step& step, const acs::ServerError& error) {
  step.state.session_error = error.type + ": " + error.message;
  note(step, Note::Level::Error,
       base::format("The control plane answered {}.", step.state.session_error));
  if (auto command = step.state.session.leave(step.state.session_error)) {
    step.out.session.push_back(std::move(*command));
  }
}

struct Messages {
  Step& step;
  void operator()(const acs::HeartbeatMessage& message) const {
    step.out.messages.emplace_back(acs::HeartbeatAckRequest{.message_id = message.message_id});
  }
  void operator()(acs::PayloadMessage& message) const { on_payload(step, message); }
  void operator()(const acs::TaskManifestMessage& message) const { on_manifest(step, message); }
  void operator()(const acs::TaskStopVerificationAck& message) const { on_stop_ack(step, message); }
  void operator()(const acs::IAMRoleCredentialsMessage& message) const {
    on_credentials(step, message);
  }
  void operator()(const acs::StageUpdateMessage& message) const {
    refuse_update(step, message.message_id);
  }
  void operator()(const acs::PerformUpdateMessage& message) const {
    refuse_update(step, message.message_id);
  }
  void operator()(const acs::ServerError& message) const { on_server_error(step, message); }
  void operator()(const acs::CloseMessage&) const {}  // The close itself follows.
  // Network interfaces and block devices of AWS: there are none on this machine. No ack: the
  // server must not take them for attached.
  template <class Attachment>
  void operator()(const Attachment& message) const {
    note(step, Note::Level::Warning,
         base::format("The attachment message {} is ignored: this agent attaches no AWS devices.",
                      message.message_id));
  }
};

void register_when_due(Step& step) {
  State& state = step.state;
  if (state.registered || state.registering || step.now < state.register_at) return;
  state.registering = true;
  step.out.registration = Register{state.instance_arn};
}

}  // namespace

// The control plane gave up the tasks of an instance that it has deregistered. It may have been
// told since that their GPUs are empty, so that none of them may start any more.
void on_registered(Step& step, const Registered& input) {
  const std::string& before = step.state.instance_arn;
  if (!before.empty() && before != input.container_instance_arn) {
    for (auto& [arn, task] : step.state.tasks) {
      begin_stop(step, task, base::format("The container instance {} was deregistered.", before));
      task.record.given_up = true;
      step.touched.insert(arn);
    }
  }
  step.state.registering = false;
  step.state.registered = true;
  step.state.instance_arn = input.container_instance_arn;
  step.state.register_backoff.reset();
  note(step, Note::Level::Info, base::format("Registered as {}.", input.container_instance_arn));
}

void on_register_failed(Step& step, const RegisterFailed& input) {
  State& state = step.state;
  state.registering = false;
  const base::Milliseconds wait =
      input.permanent ? refused_wait : state.register_backoff.next(state.random);
  state.register_at = step.now + wait;
  note(step, input.permanent ? Note::Level::Error : Note::Level::Warning,
       base::format("The control plane does not register this container instance: {}: {}; tried "
                    "again in {} s.",
                    input.error.code, input.error.message, (wait.count() + 999) / 1000));
}

void on_session_closed(Step& step, const SessionClosed& input) {
  acs::Closed end = input.end;
  if (!step.state.session_error.empty()) end.reason = std::exchange(step.state.session_error, {});
  step.state.session.closed(end, step.state.random, step.now);
}

void on_message(Step& step, acs::ServerMessage& message) {
  step.state.session.heard(step.state.random, step.now);
  std::visit(Messages{step}, message);
}

void tick_session(Step& step) {
  State& state = step.state;
  register_when_due(step);
  if (!state.registered) return;
  // Without Docker the agent is of no use to the control plane: it leaves, telling why, and comes
  // back with Docker.
  const bool away =
      !state.runtime_ready && step.now >= state.runtime_lost_at + state.config.runtime_grace;
  if (away && !state.runtime_loss_told) {
    if (auto command = state.session.leave(state.runtime_reason)) {
      state.runtime_loss_told = true;
      step.out.session.push_back(std::move(*command));
      return;
    }
  }
  const bool waiting = state.session.state() == acs::AgentSession::State::Waiting;
  if (away && state.runtime_loss_told && waiting) return;
  auto command = state.session.tick(step.now);
  if (!command) return;
  if (auto* const connect = std::get_if<acs::AgentSession::Connect>(&*command)) {
    connect->highest = state.progress.highest;
  }
  step.out.session.push_back(std::move(*command));
}

}  // namespace agent::core
