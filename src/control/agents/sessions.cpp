#include "control/agents/sessions.h"

#include <algorithm>

#include "base/format.h"
#include "base/sentence.h"
#include "control/agents/payload.h"
#include "control/agents/telemetry.h"
#include "model/capabilities.h"

namespace control {
namespace {

constexpr const char* no_connection = "The agent of the instance has no connection.";
constexpr int64_t reserved_at_once = 60'000;  // As many as a minute has milliseconds.

std::vector<acs::TaskIdentifier> manifest_of(const Step& step,
                                             const model::ContainerInstance& instance) {
  std::vector<acs::TaskIdentifier> tasks;
  for (const model::TaskArn& arn : instance.tasks) {
    const model::Task* const task = model::find_task(step.state(), arn);
    tasks.push_back({arn.str(), model::cluster_arn(step.settings.account, instance.cluster),
                     task->desired_status == model::TaskStatus::Stopped ? "STOPPED" : "RUNNING"});
  }
  return tasks;
}

// The agent runs it, and it is not wanted: it is unknown, or stopped, or to be stopped.
bool to_be_stopped(const model::ClusterState& state, const model::InstanceArn& instance,
                   const acs::TaskIdentifier& candidate) {
  const model::Task* const task = model::find_task(state, model::TaskArn(candidate.task_arn));
  return task == nullptr || task->instance != instance ||
         task->desired_status == model::TaskStatus::Stopped;
}

// When keys that are made now are to be replaced.
base::Time renewal(const Settings& settings, base::Time now) {
  return now + std::max(settings.credentials_lifetime - settings.credentials_renewal,
                        settings.credentials_lifetime / 2);
}

// "berth.lan" of "https://berth.lan:7117".
std::string host_of_url(std::string_view url) {
  const size_t scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, host.find('/'));
  if (host.starts_with('[')) return std::string(host.substr(1, host.find(']') - 1));
  return std::string(host.substr(0, host.rfind(':')));
}

// Where others reach the machine that a session comes from. On the control plane's own machine that
// is where they reach the control plane.
std::string host_address_of(const Settings& settings, const std::string& remote_host) {
  const bool own = remote_host.starts_with("127.") || remote_host == "::1";
  return own ? host_of_url(settings.poll_endpoint) : remote_host;
}

// Official agents tell their versions here only, and never where their machine is reached; ours has
// told all of it when it registered.
void take_facts(Step& step, const model::ContainerInstance& instance, const SessionOpened& opened) {
  model::ContainerInstance told = instance;
  if (!opened.remote_host.empty()) {
    told.attributes.emplace(model::attribute_host_address,
                            host_address_of(step.settings, opened.remote_host));
  }
  if (!opened.agent_version.empty()) told.agent_version = opened.agent_version;
  if (!opened.agent_hash.empty()) told.agent_hash = opened.agent_hash;
  if (!opened.docker_version.empty()) told.docker_version = opened.docker_version;
  if (told.agent_version == instance.agent_version && told.agent_hash == instance.agent_hash &&
      told.docker_version == instance.docker_version && told.attributes == instance.attributes) {
    return;
  }
  ++told.version;
  step.change(model::InstanceRegistered{std::move(told)});
}

std::string_view host_or_unknown(const std::string& host) {
  return host.empty() ? std::string_view("an unknown address") : std::string_view(host);
}

// `told` is what the socket said, or the agent in its closing handshake.
std::string why_closed(std::string_view told) {
  if (told.empty()) return no_connection;
  return base::sentence(base::format("The agent's connection has ended: {}", told));
}

}  // namespace

Sessions::Sessions(const model::ClusterState& state, const Settings& settings, base::Time now)
    : acs_settings_{.heartbeat_interval = settings.heartbeat_interval,
                    .heartbeat_timeout = settings.heartbeat_timeout,
                    .redelivery_interval = settings.redeliver_after},
      timeline_(state.sequence_numbers_reserved) {
  for (const auto& [arn, instance] : state.instances) {
    if (instance.agent_connected) expect_by(arn, now + settings.connect_grace, no_connection);
  }
}

void Sessions::expect_by(const model::InstanceArn& arn, base::Time deadline, std::string reason) {
  expected_[arn] = std::move(reason);
  expected_by_.set(arn, deadline);
}

void Sessions::forget_expected(const model::InstanceArn& arn) {
  expected_.erase(arn);
  expected_by_.erase(arn);
}

void Sessions::reschedule(SessionId id, const Session& session) {
  due_.set(id, session.acs.next_tick());
}

void Sessions::send(Step& step, SessionId id, acs::ServerMessage message) {
  const auto found = sessions_.find(id);
  CHECK(found != sessions_.end());
  found->second.acs.sent(step.now);
  step.send(id, std::move(message));
}

void Sessions::take(Step& step, const Input& input) {
  if (const auto* const opened = std::get_if<SessionOpened>(&input)) {
    open(step, *opened);
  } else if (const auto* const message = std::get_if<SessionMessage>(&input)) {
    receive(step, *message);
  } else if (const auto* const closed = std::get_if<SessionClosed>(&input)) {
    drop(closed->session, step, why_closed(closed->reason));
  } else if (const auto* const telemetry = std::get_if<TelemetryReceived>(&input)) {
    take_telemetry(step, *telemetry);
  }
}

void Sessions::open(Step& step, const SessionOpened& opened) {
  const model::ContainerInstance* const instance =
      model::find_instance(step.state(), opened.instance);
  if (instance == nullptr || instance->status == model::InstanceStatus::Inactive) {
    step.close(opened.session,
               {"InactiveInstanceException", "The container instance is not registered."});
    return;
  }
  if (opened.by_agent_key && !step.state().agent_keys.contains(opened.access_key_id)) {
    step.close(opened.session, {"ServerException", "The agent's key was taken back."});
    return;
  }
  if (instance->cluster != opened.cluster) {
    step.close(opened.session, {"InvalidClusterException",
                                base::format("The container instance is of the cluster {}, not {}.",
                                             instance->cluster.str(), opened.cluster.str())});
    return;
  }
  if (const Session* const other = session_elsewhere(opened, step.now)) {
    return step.close(
        opened.session,
        {"BadRequestException",
         base::format(
             "The agent of the container instance {} is connected from {}; another one, at "
             "{}, has the same data. Is one machine, or its data directory, a copy of the "
             "other? Give one of them a data directory of its own (berth agent --data) "
             "and a join token. After a restart of the machine this passes by itself.",
             opened.instance.str(), host_or_unknown(other->remote_host),
             host_or_unknown(opened.remote_host))});
  }
  forget_expected(opened.instance);
  if (!model::agent_answers(*instance)) {
    step.change(model::AgentConnectionChanged{opened.instance, true, {}, step.now});
  }
  const acs::SessionPeer peer{
      .cluster_arn = model::cluster_arn(step.settings.account, instance->cluster),
      .container_instance_arn = opened.instance.str(),
      .protocol_version = opened.protocol_version,
      .send_credentials = opened.send_credentials,
      .highest = opened.highest};
  const auto [entry, inserted] = sessions_.emplace(
      opened.session, Session{.instance = opened.instance,
                              .acs = acs::ServerSession(acs_settings_, peer, step.now),
                              .access_key_id = opened.access_key_id,
                              .place = opened.place,
                              .remote_host = opened.remote_host});
  CHECK(inserted);
  of_instance_[opened.instance].insert(opened.session);
  take_facts(step, *instance, opened);
  Session& session = entry->second;
  send_role_keys(step, *instance, opened);
  step.send(opened.session,
            session.acs.open(manifest_of(step, *instance), timeline_, step.random, step.now));
  reserve_sequence_numbers(step);
  for (const model::TaskArn& arn : instance->tasks) {
    if (!model::find_task(step.state(), arn)->acknowledged) deliver(step, arn);
  }
  reschedule(opened.session, session);
}

// The machine may have been restarted, and the end of its connection not been heard: what does not
// answer now is closed, and the next try succeeds.
const Sessions::Session* Sessions::session_elsewhere(const SessionOpened& opened, base::Time now) {
  const auto sessions = of_instance_.find(opened.instance);
  if (opened.place.empty() || sessions == of_instance_.end()) return nullptr;
  for (const SessionId id : sessions->second) {
    Session& session = sessions_.at(id);
    if (session.place.empty() || session.place == opened.place) continue;
    session.acs.ask_soon(now);
    reschedule(id, session);
    return &session;
  }
  return nullptr;
}

void Sessions::receive(Step& step, const SessionMessage& message) {
  const auto found = sessions_.find(message.session);
  if (found == sessions_.end()) return;  // Closed by us while the message was on its way.
  Session& session = found->second;
  const auto received = session.acs.receive(message.message, step.now);
  for (const auto& acknowledged : received.acknowledged) {
    const model::Task* const task =
        model::find_task(step.state(), model::TaskArn(acknowledged.task_arn));
    if (task == nullptr || task->acknowledged) continue;
    const bool wanted = acknowledged.desired_status == "STOPPED";
    if (wanted == (task->desired_status == model::TaskStatus::Stopped)) {
      step.change(model::TaskAcknowledged{task->arn});
    }
  }
  if (received.credentials) roles_.acknowledged(received.credentials->credentials_id);
  if (received.stop_candidates) {
    std::vector<acs::TaskIdentifier> stops;
    std::ranges::copy_if(received.stop_candidates->stop_candidates, std::back_inserter(stops),
                         [&](const acs::TaskIdentifier& candidate) {
                           return to_be_stopped(step.state(), session.instance, candidate);
                         });
    send(step, message.session,
         session.acs.confirm_stops(*received.stop_candidates, std::move(stops), step.now));
  }
  reschedule(message.session, session);
}

void Sessions::drop(SessionId id, Step& step, std::string reason) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const model::InstanceArn arn = found->second.instance;
  due_.erase(id);
  sessions_.erase(found);
  const auto rest = of_instance_.find(arn);
  rest->second.erase(id);
  if (!rest->second.empty()) return;
  of_instance_.erase(rest);
  const auto* const instance = model::find_instance(step.state(), arn);
  if (instance == nullptr || !instance->agent_connected) return;
  step.change(model::AgentConnectionChanged{
      .arn = arn, .connected = true, .reason = reason, .at = step.now, .silent = true});
  expect_by(arn, step.now + step.settings.disconnect_grace, std::move(reason));
}

void Sessions::close_silent(Step& step) {
  while (due_.next() <= step.now) {
    const SessionId id = due_.first();
    Session& session = sessions_.at(id);
    auto ticked = session.acs.tick(step.random, step.now);
    for (acs::ServerMessage& message : ticked.messages) {
      step.send(id, std::move(message));
    }
    if (!ticked.dead) {
      reschedule(id, session);
      continue;
    }
    // Not InactiveInstanceException: on that an agent stays away for an hour.
    step.close(id, {"ServerException", "No answer to heartbeats."});
    const model::InstanceArn arn = session.instance;
    drop(id, step, "The agent did not answer heartbeats.");
    // It has been silent for long enough: no grace on top.
    if (expected_.contains(arn)) expected_by_.set(arn, step.now);
  }
}

void Sessions::tell_missing(Step& step) {
  while (expected_by_.next() <= step.now) {
    const model::InstanceArn arn = expected_by_.first();
    const std::string reason = expected_.at(arn);
    forget_expected(arn);
    const auto* const instance = model::find_instance(step.state(), arn);
    if (instance == nullptr || !instance->agent_connected) continue;
    step.change(model::AgentConnectionChanged{arn, false, reason, step.now});
  }
}

void Sessions::tick(Step& step) {
  close_silent(step);
  tell_missing(step);
  for (const RoleSchedule::Key& key : roles_.due(step.now)) send_role_key(step, key);
}

base::Time Sessions::next_tick() const {
  return std::min({roles_.next(), due_.next(), expected_by_.next()});
}

SessionId Sessions::newest_of(const model::InstanceArn& arn) const {
  const auto sessions = of_instance_.find(arn);
  return sessions == of_instance_.end() ? 0 : *sessions->second.rbegin();
}

void Sessions::deliver(Step& step, const model::TaskArn& arn) {
  const model::Task* const task = model::find_task(step.state(), arn);
  if (task == nullptr || task->last_status == model::TaskStatus::Stopped) return;
  const SessionId newest = newest_of(task->instance);
  if (newest == 0) return;  // Delivered when the agent connects.
  Session& session = sessions_.at(newest);
  acs::Task payload = make_payload(step, *task, session.access_key_id);
  note_role_keys(step, payload);
  step.send(newest, session.acs.deliver(std::move(payload), timeline_, step.random, step.now));
  reschedule(newest, session);
  reserve_sequence_numbers(step);
}

void Sessions::note_role_keys(const Step& step, const acs::Task& payload) {
  const auto note = [&](RoleType type, const std::optional<acs::IAMRoleCredentials>& sent) {
    if (!sent) return;
    roles_.sent({model::TaskArn(payload.arn), type}, sent->credentials_id,
                step.now + step.settings.redeliver_after, renewal(step.settings, step.now));
  };
  note(RoleType::TaskApplication, payload.role_credentials);
  note(RoleType::TaskExecution, payload.execution_role_credentials);
}

// An agent keeps the keys in memory only. One that has just started asks for them; one that has
// only renewed its connection has them, unless this is the control plane's first word since its own
// start.
void Sessions::send_role_keys(Step& step, const model::ContainerInstance& instance,
                              const SessionOpened& opened) {
  for (const model::TaskArn& arn : instance.tasks) {
    const model::Task* const task = model::find_task(step.state(), arn);
    if (task->desired_status == model::TaskStatus::Stopped || !task->acknowledged) continue;
    for (const RoleType type : role_types) {
      const RoleSchedule::Key key{arn, type};
      if (opened.send_credentials || !roles_.knows(key)) send_role_key(step, key);
    }
  }
}

void Sessions::send_role_key(Step& step, const RoleSchedule::Key& key) {
  const model::Task* const task = model::find_task(step.state(), key.task);
  const bool wanted = task != nullptr && task->desired_status != model::TaskStatus::Stopped;
  const SessionId newest = wanted ? newest_of(task->instance) : 0;
  auto credentials =
      newest == 0 ? std::nullopt
                  : role_credentials(step, *task, key.type, sessions_.at(newest).access_key_id);
  if (!credentials) return roles_.forget_key(key);  // Without a session: sent at the next one.
  roles_.sent(key, credentials->credentials_id, step.now + step.settings.redeliver_after,
              renewal(step.settings, step.now));
  send(step, newest,
       acs::IAMRoleCredentialsMessage{
           .message_id = step.random.uuid(),
           .task_arn = key.task.str(),
           .task_cluster_arn = model::cluster_arn(step.settings.account, task->cluster),
           .role_type = std::string(to_string(key.type)),
           .role_credentials = std::move(credentials)});
  reschedule(newest, sessions_.at(newest));
}

void Sessions::settle(const model::ClusterState& state, const model::TaskArn& arn) {
  const model::Task* const task = model::find_task(state, arn);
  if (task == nullptr) return;
  const auto sessions = of_instance_.find(task->instance);
  if (sessions == of_instance_.end()) return;
  for (const SessionId id : sessions->second) sessions_.at(id).acs.settle(arn.str());
}

void Sessions::close_all(const model::InstanceArn& arn, Step& step) {
  const auto sessions = of_instance_.find(arn);
  if (sessions == of_instance_.end()) return;
  const std::set<SessionId> ids = sessions->second;
  for (const SessionId id : ids) {
    step.close(id, {"InactiveInstanceException", "The container instance has been deregistered."});
    drop(id, step, no_connection);
  }
}

// Whoever holds a key that was taken back must not go on with the sessions that it has opened. The
// keys of roles that it was given have ended with it: whose agent comes back gets others.
void Sessions::close_those_of_key(const std::string& access_key_id, Step& step) {
  std::vector<SessionId> ids;
  for (const auto& [id, session] : sessions_) {
    if (session.access_key_id != access_key_id) continue;
    ids.push_back(id);
    const auto* const instance = model::find_instance(step.state(), session.instance);
    if (instance == nullptr) continue;
    for (const model::TaskArn& task : instance->tasks) roles_.forget(task);
  }
  for (const SessionId id : ids) {
    step.close(id, {"ServerException", "The agent's key was taken back."});
    drop(id, step, "The agent's key was taken back.");
  }
}

// In steps, so that a write covers many numbers; no message leaves before it is done.
void Sessions::reserve_sequence_numbers(Step& step) {
  if (timeline_.last() <= step.state().sequence_numbers_reserved) return;
  step.change(model::SequenceNumbersReserved{timeline_.last() + reserved_at_once});
}

void Sessions::observe(Step& step, const model::Change& change) {
  if (const auto* const placed = std::get_if<model::TaskPlaced>(&change)) {
    deliver(step, placed->task.arn);
  } else if (const auto* const stop = std::get_if<model::TaskStopRequested>(&change)) {
    deliver(step, stop->arn);
  } else if (const auto* const report = std::get_if<model::TaskReported>(&change)) {
    if (report->last_status != model::TaskStatus::Stopped) return;
    settle(step.state(), report->arn);
    roles_.forget(report->arn);
  } else if (const auto* const registered = std::get_if<model::InstanceRegistered>(&change)) {
    const model::InstanceArn& arn = registered->instance.arn;
    if (!of_instance_.contains(arn)) {
      expect_by(arn, step.now + step.settings.connect_grace, no_connection);
    }
  } else if (const auto* const gone = std::get_if<model::InstanceDeregistered>(&change)) {
    close_all(gone->arn, step);
  } else if (const auto* const removed = std::get_if<model::AgentKeyRemoved>(&change)) {
    close_those_of_key(removed->id, step);
  }
}

}  // namespace control
