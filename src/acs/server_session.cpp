#include "acs/server_session.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace acs {

int64_t Timeline::next(base::Time now) {
  last_ = std::max(last_ + 1, static_cast<int64_t>(now.time_since_epoch().count()));
  return last_;
}

ServerSession::ServerSession(ServerSettings settings, SessionPeer peer, base::Time now)
    : settings_(settings), peer_(std::move(peer)), last_sent_(now), last_heard_(now) {}

TaskManifestMessage ServerSession::open(std::vector<TaskIdentifier> tasks, Timeline& timeline,
                                        base::Random& random, base::Time now) {
  manifest_id_ = random.uuid();
  last_sent_ = now;
  // The agent would not take what is not ahead of all that it has seen.
  const int64_t ahead = peer_.highest + (peer_.highest < std::numeric_limits<int64_t>::max());
  return {.cluster_arn = peer_.cluster_arn,
          .container_instance_arn = peer_.container_instance_arn,
          .message_id = manifest_id_,
          .generated_at = now.time_since_epoch().count(),
          .timeline = std::max(timeline.next(now), ahead),
          .tasks = std::move(tasks)};
}

PayloadMessage ServerSession::deliver(Task task, Timeline& timeline, base::Random& random,
                                      base::Time now) {
  settle(task.arn);
  PayloadMessage message{.cluster_arn = peer_.cluster_arn,
                         .container_instance_arn = peer_.container_instance_arn,
                         .message_id = random.uuid(),
                         .generated_at = now.time_since_epoch().count(),
                         .seq_num = timeline.next(now),
                         .tasks = {}};
  message_of_task_.emplace(task.arn, message.message_id);
  message.tasks.push_back(std::move(task));
  undelivered_.emplace(message.message_id, Undelivered{message, now});
  last_sent_ = now;
  return message;
}

void ServerSession::settle(std::string_view task_arn) {
  const auto found = message_of_task_.find(std::string(task_arn));
  if (found == message_of_task_.end()) return;
  undelivered_.erase(found->second);
  message_of_task_.erase(found);
}

ServerSession::Received ServerSession::receive(const AgentMessage& message, base::Time now) {
  // Whatever an agent says proves that it is there.
  unanswered_heartbeat_.reset();
  last_heard_ = now;
  Received received;
  if (const auto* ack = std::get_if<AckRequest>(&message)) {
    const auto found = undelivered_.find(ack->message_id);
    if (found == undelivered_.end()) return received;
    for (const Task& task : found->second.message.tasks) {
      received.acknowledged.push_back({task.arn, task.desired_status});
      message_of_task_.erase(task.arn);
    }
    undelivered_.erase(found);
  } else if (const auto* stops = std::get_if<TaskStopVerificationMessage>(&message)) {
    if (!manifest_id_.empty() && stops->message_id == manifest_id_) {
      received.stop_candidates = *stops;
    }
  } else if (const auto* credentials = std::get_if<IAMRoleCredentialsAckRequest>(&message)) {
    received.credentials = *credentials;
  } else if (const auto* nack = std::get_if<NackRequest>(&message)) {
    received.refused = *nack;
  }
  return received;
}

TaskStopVerificationAck ServerSession::confirm_stops(const TaskStopVerificationMessage& candidates,
                                                     std::vector<TaskIdentifier> stop_tasks,
                                                     base::Time now) {
  manifest_id_.clear();
  last_sent_ = now;
  return {.message_id = candidates.message_id,
          .generated_at = now.time_since_epoch().count(),
          .stop_tasks = std::move(stop_tasks)};
}

void ServerSession::sent(base::Time now) {
  last_sent_ = std::max(last_sent_, now);
}

ServerSession::Ticked ServerSession::tick(base::Random& random, base::Time now) {
  Ticked ticked;
  if (peer_.protocol_version >= 2 && unanswered_heartbeat_ &&
      now >= *unanswered_heartbeat_ + settings_.heartbeat_timeout) {
    ticked.dead = true;
    return ticked;
  }
  for (auto& [id, undelivered] : undelivered_) {
    if (now < undelivered.sent_at + settings_.redelivery_interval) continue;
    undelivered.sent_at = now;
    last_sent_ = now;
    ticked.messages.emplace_back(undelivered.message);
  }
  if (now >= heartbeat_due()) {
    last_sent_ = now;
    unanswered_heartbeat_ = now;
    asked_for_.reset();
    ticked.messages.emplace_back(HeartbeatMessage{.message_id = random.uuid(), .healthy = true});
  }
  return ticked;
}

base::Time ServerSession::heartbeat_due() const {
  const base::Time by_silence = last_sent_ + settings_.heartbeat_interval;
  if (peer_.protocol_version < 2) return by_silence;
  // A peer that owes an answer is asked again only after it gave one: the oldest question counts.
  if (unanswered_heartbeat_) return base::Time::max();
  if (asked_for_) return *asked_for_;
  // Payloads that are sent again and again into a dead connection must not put the question off.
  return std::min(by_silence, last_heard_ + 2 * settings_.heartbeat_interval);
}

base::Time ServerSession::next_tick() const {
  base::Time next = heartbeat_due();
  if (peer_.protocol_version >= 2 && unanswered_heartbeat_) {
    next = *unanswered_heartbeat_ + settings_.heartbeat_timeout;
  }
  for (const auto& [id, undelivered] : undelivered_) {
    next = std::min(next, undelivered.sent_at + settings_.redelivery_interval);
  }
  return next;
}

}  // namespace acs
