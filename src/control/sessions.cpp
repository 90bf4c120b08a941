#include "control/sessions.h"

#include <algorithm>

#include "base/format.h"
#include "control/payload.h"

namespace control {
namespace {

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

}  // namespace

Sessions::Sessions(const model::ClusterState& state, const Settings& settings, base::Time now)
    : acs_settings_{.heartbeat_interval = settings.heartbeat_interval,
                    .heartbeat_timeout = settings.heartbeat_timeout,
                    .redelivery_interval = settings.redeliver_after} {
  for (const auto& [arn, instance] : state.instances) {
    if (instance.agent_connected) expect_by(arn, now + settings.connect_grace, {});
  }
}

void Sessions::expect_by(const model::InstanceArn& arn, base::Time deadline, std::string reason) {
  forget_expected(arn);
  if (reason.empty()) {
    reason = "The agent on this instance has no connection to the control plane.";
  }
  expected_.emplace(arn, Expected{deadline, std::move(reason)});
  expected_by_.emplace(deadline, arn);
}

void Sessions::forget_expected(const model::InstanceArn& arn) {
  const auto entry = expected_.find(arn);
  if (entry == expected_.end()) return;
  expected_by_.erase({entry->second.deadline, arn});
  expected_.erase(entry);
}

void Sessions::reschedule(SessionId id, Session& session) {
  due_.erase({session.due, id});
  session.due = session.acs.next_tick();
  due_.emplace(session.due, id);
}

void Sessions::send(SessionId id, Output& output, acs::ServerMessage message, base::Time now) {
  const auto found = sessions_.find(id);
  CHECK(found != sessions_.end());
  found->second.acs.sent(now);
  output.messages.push_back({id, std::move(message)});
}

void Sessions::open(Step& step, Output& output, const SessionOpened& opened) {
  const model::ContainerInstance* const instance =
      model::find_instance(step.state(), opened.instance);
  if (instance == nullptr || instance->status == model::InstanceStatus::Inactive) {
    output.closes.push_back(
        {opened.session, {"InactiveInstanceException", "The container instance is not registered."}});
    return;
  }
  forget_expected(opened.instance);
  if (!instance->agent_connected) {
    step.change(model::AgentConnectionChanged{opened.instance, true, {}, step.now});
  }
  const acs::SessionPeer peer{
      .cluster_arn = model::cluster_arn(step.settings.account, instance->cluster),
      .container_instance_arn = opened.instance.str()};
  const auto [entry, inserted] = sessions_.emplace(
      opened.session,
      Session{opened.instance, acs::ServerSession(acs_settings_, peer, step.now), step.now});
  CHECK(inserted);
  of_instance_[opened.instance].insert(opened.session);
  Session& session = entry->second;
  output.messages.push_back(
      {opened.session,
       session.acs.open(manifest_of(step, *instance), timeline_, step.random, step.now)});
  for (const model::TaskArn& arn : instance->tasks) {
    if (!model::find_task(step.state(), arn)->acknowledged) deliver(step, output, arn);
  }
  reschedule(opened.session, session);
}

void Sessions::receive(Step& step, Output& output, const SessionMessage& message) {
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
  if (received.stop_candidates) {
    std::vector<acs::TaskIdentifier> stops;
    std::ranges::copy_if(received.stop_candidates->stop_candidates, std::back_inserter(stops),
                         [&](const acs::TaskIdentifier& candidate) {
                           return to_be_stopped(step.state(), session.instance, candidate);
                         });
    send(message.session, output,
         session.acs.confirm_stops(*received.stop_candidates, std::move(stops), step.now),
         step.now);
  }
  reschedule(message.session, session);
}

void Sessions::drop(SessionId id, const Step& step, std::string reason) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  const model::InstanceArn arn = found->second.instance;
  due_.erase({found->second.due, id});
  sessions_.erase(found);
  const auto rest = of_instance_.find(arn);
  rest->second.erase(id);
  if (!rest->second.empty()) return;
  of_instance_.erase(rest);
  const auto* const instance = model::find_instance(step.state(), arn);
  if (instance != nullptr && instance->agent_connected) {
    expect_by(arn, step.now + step.settings.disconnect_grace, std::move(reason));
  }
}

void Sessions::close(Step& step, const SessionClosed& closed) {
  drop(closed.session, step, closed.reason);
}

void Sessions::tick(Step& step, Output& output) {
  while (!due_.empty() && due_.begin()->first <= step.now) {
    const SessionId id = due_.begin()->second;
    Session& session = sessions_.at(id);
    auto ticked = session.acs.tick(step.random, step.now);
    for (acs::ServerMessage& message : ticked.messages) {
      output.messages.push_back({id, std::move(message)});
    }
    if (ticked.dead) {
      // Not InactiveInstanceException: on that an agent stays away for an hour.
      output.closes.push_back({id, {"ServerException", "No answer to heartbeats."}});
      drop(id, step, "The agent did not answer heartbeats.");
    } else {
      reschedule(id, session);
    }
  }
  while (!expected_by_.empty() && expected_by_.begin()->first <= step.now) {
    const model::InstanceArn arn = expected_by_.begin()->second;
    const std::string reason = expected_.at(arn).reason;
    forget_expected(arn);
    const auto* const instance = model::find_instance(step.state(), arn);
    if (instance == nullptr || !instance->agent_connected) continue;
    step.change(model::AgentConnectionChanged{arn, false, reason, step.now});
  }
}

base::Time Sessions::next_tick() const {
  base::Time next = base::Time::max();
  if (!due_.empty()) next = due_.begin()->first;
  if (!expected_by_.empty()) next = std::min(next, expected_by_.begin()->first);
  return next;
}

void Sessions::deliver(Step& step, Output& output, const model::TaskArn& arn) {
  const model::Task* const task = model::find_task(step.state(), arn);
  if (task == nullptr || task->last_status == model::TaskStatus::Stopped) return;
  const auto sessions = of_instance_.find(task->instance);
  if (sessions == of_instance_.end()) return;  // Delivered when the agent connects.
  const SessionId newest = *sessions->second.rbegin();
  Session& session = sessions_.at(newest);
  output.messages.push_back(
      {newest,
       session.acs.deliver(make_payload(step, *task), timeline_, step.random, step.now)});
  reschedule(newest, session);
}

void Sessions::settle(const model::ClusterState& state, const model::TaskArn& arn) {
  const model::Task* const task = model::find_task(state, arn);
  if (task == nullptr) return;
  const auto sessions = of_instance_.find(task->instance);
  if (sessions == of_instance_.end()) return;
  for (const SessionId id : sessions->second) sessions_.at(id).acs.settle(arn.str());
}

void Sessions::close_all(const model::InstanceArn& arn, const Step& step, Output& output) {
  const auto sessions = of_instance_.find(arn);
  if (sessions == of_instance_.end()) return;
  const std::set<SessionId> ids = sessions->second;
  for (const SessionId id : ids) {
    output.closes.push_back(
        {id, {"InactiveInstanceException", "The container instance has been deregistered."}});
    drop(id, step, {});
  }
}

void Sessions::announce(Step& step, Output& output, size_t first) {
  for (size_t i = first; i < output.changes.size(); ++i) {
    const model::Change& change = output.changes[i];
    if (const auto* const placed = std::get_if<model::TaskPlaced>(&change)) {
      deliver(step, output, placed->task.arn);
    } else if (const auto* const stop = std::get_if<model::TaskStopRequested>(&change)) {
      deliver(step, output, stop->arn);
    } else if (const auto* const report = std::get_if<model::TaskReported>(&change)) {
      if (report->last_status == model::TaskStatus::Stopped) settle(step.state(), report->arn);
    } else if (const auto* const registered = std::get_if<model::InstanceRegistered>(&change)) {
      const model::InstanceArn& arn = registered->instance.arn;
      if (!of_instance_.contains(arn)) {
        expect_by(arn, step.now + step.settings.connect_grace, {});
      }
    } else if (const auto* const gone = std::get_if<model::InstanceDeregistered>(&change)) {
      close_all(gone->arn, step, output);
    }
  }
}

}  // namespace control
