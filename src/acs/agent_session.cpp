#include "acs/agent_session.h"

#include <algorithm>
#include <utility>

namespace acs {
namespace {

base::Milliseconds up_to(base::Milliseconds most, base::Random& random) {
  if (most.count() <= 0) return base::Milliseconds{0};
  return base::Milliseconds{
      static_cast<int64_t>(random.below(static_cast<uint64_t>(most.count()) + 1))};
}

base::Milliseconds scaled(base::Milliseconds value, double factor) {
  return base::Milliseconds{static_cast<int64_t>(static_cast<double>(value.count()) * factor)};
}

// Source: ecs-agent/wsclient/client.go: these ends are no sign of trouble.
bool is_orderly(uint16_t code) {
  return code == 1000 || code == 1001 || code == 1006 || code == 1011;
}

}  // namespace

base::Milliseconds Backoff::next(base::Random& random) {
  const base::Milliseconds current = std::clamp(next_, min_, max_);
  next_ = std::min(scaled(current, factor_), max_);
  return current + up_to(scaled(current, jitter_), random);
}

AgentSession::AgentSession(AgentSettings settings, base::Time now)
    : settings_(settings),
      backoff_(settings.backoff_min, settings.backoff_max, settings.backoff_factor,
               settings.backoff_jitter),
      connect_at_(now) {}

std::optional<AgentSession::Command> AgentSession::tick(base::Time now) {
  if (state_ == State::Waiting && now >= connect_at_) {
    state_ = State::Connecting;
    return Connect{.send_credentials = !ever_connected_};
  }
  if (state_ == State::Connected && now >= silent_until_) {
    return leave("The server has sent nothing for too long.");
  }
  if (state_ == State::Connected && now >= close_at_) {
    return leave("The connection has reached its age.");
  }
  return std::nullopt;
}

std::optional<AgentSession::Command> AgentSession::leave(std::string reason) {
  if (state_ != State::Connected || closing_) return std::nullopt;
  closing_ = true;
  return Disconnect{std::move(reason)};
}

void AgentSession::connected(base::Random& random, base::Time now) {
  state_ = State::Connected;
  ever_connected_ = true;
  closing_ = false;
  connected_at_ = now;
  close_at_ = now + settings_.lifetime + up_to(settings_.lifetime_jitter, random);
  heard(random, now);
}

void AgentSession::heard(base::Random& random, base::Time now) {
  silent_until_ = now + settings_.inactivity + up_to(settings_.inactivity_jitter, random);
}

void AgentSession::closed(const Closed& end, base::Random& random, base::Time now) {
  const bool was_connected = state_ == State::Connected;
  const bool by_us = closing_;
  state_ = State::Waiting;
  closing_ = false;
  if (was_connected && now >= connected_at_ + settings_.backoff_reset_after) backoff_.reset();
  if (end.reason.find("InactiveInstanceException") != std::string::npos) {
    connect_at_ = now + settings_.inactive_instance_wait;
    return;
  }
  if (was_connected && (by_us || is_orderly(end.code))) {
    // At once; but a server that accepts and hangs up again must not be hammered.
    const bool short_lived = now < connected_at_ + std::chrono::seconds(1);
    connect_at_ = short_lived ? now + backoff_.next(random) : now;
    return;
  }
  connect_at_ = now + backoff_.next(random);
}

base::Time AgentSession::next_tick() const {
  switch (state_) {
    case State::Waiting:
      return connect_at_;
    case State::Connecting:
      return base::Time::max();
    case State::Connected:
      return closing_ ? base::Time::max() : std::min(silent_until_, close_at_);
  }
  return base::Time::max();
}

bool accept_payload(const PayloadMessage& message, AgentProgress& progress) {
  if (message.cluster_arn.empty() || message.container_instance_arn.empty() ||
      message.message_id.empty()) {
    return false;
  }
  progress.highest = std::max(progress.highest, message.seq_num);
  return true;
}

bool accept_manifest(const TaskManifestMessage& message, AgentProgress& progress) {
  if (message.cluster_arn.empty() || message.container_instance_arn.empty() ||
      message.message_id.empty() || message.timeline <= progress.highest) {
    return false;
  }
  progress.highest = message.timeline;
  progress.manifest_id = message.message_id;
  return true;
}

bool accept_stop_ack(const TaskStopVerificationAck& message, AgentProgress& progress) {
  if (progress.manifest_id.empty() || message.message_id != progress.manifest_id) return false;
  progress.manifest_id.clear();
  return true;
}

}  // namespace acs
