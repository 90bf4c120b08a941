// Sessions that are logged (log.h).

#include <utility>

#include "base/log.h"
#include "exec/relay.h"

namespace exec {
namespace {

// Of all sessions' output that waits for the log store.
constexpr size_t most_logs_bytes = size_t{64} << 20;
// For an answer of the log store, before the session's end is told without it.
constexpr base::Milliseconds log_patience{5'000};

base::Result<void> without_value(const base::Result<api::Any>& answer) {
  if (!answer) return base::fail(answer.error());
  return {};
}

}  // namespace

void Relay::begin_log(Session& session, bool terminal) {
  if (!session.ticket.log) return;
  const std::string& id = session.ticket.id;
  LogOrder order = std::move(*session.ticket.log);
  session.ticket.log.reset();
  const auto log = logs_.try_emplace(id, std::move(order.group), std::move(order.beginning),
                                     terminal, clock_.now());
  logs_bytes_ += log.first->second.kept_bytes();
  write_log(id);
}

bool Relay::log_from_agent(Session& session, const Message& message) {
  if (session.held) return true;  // Nothing follows the last message.
  const std::string& id = session.ticket.id;
  const auto found = logs_.find(id);
  const auto read = acs::decode_exec(message.bytes);
  if (found == logs_.end() || !read) return false;
  Log& log = found->second;
  const base::Time now = clock_.now();
  const bool last = read->kind == acs::ExecKind::ExitCode || read->kind == acs::ExecKind::Failure;
  logs_bytes_ -= log.kept_bytes();
  if (read->kind == acs::ExecKind::Output || read->kind == acs::ExecKind::Error) {
    const size_t room = most_logs_bytes - std::min(logs_bytes_, most_logs_bytes);
    log.output(read->kind, read->bytes, room, now);
  } else if (read->kind == acs::ExecKind::ExitCode) {
    log.end_with_exit_code(read->bytes, now);
  } else if (read->kind == acs::ExecKind::Failure) {
    log.end_without(read->bytes, now);
  }
  logs_bytes_ += log.kept_bytes();
  write_log(id);
  if (!last || log_may_end(id)) return false;
  session.held = HeldEnd{.message = message.bytes, .until = now + log_patience};
  return true;
}

void Relay::end_log(const std::string& id, std::string_view why) {
  const auto found = logs_.find(id);
  if (found == logs_.end()) return;
  Log& log = found->second;
  logs_bytes_ -= log.kept_bytes();
  log.end_without(why, clock_.now());
  logs_bytes_ += log.kept_bytes();
  write_log(id);
}

bool Relay::call_logs(const std::string& id, LogCall call) {
  return call_logs_(std::move(call), [this, id](base::Result<api::Any> answer) {
    queue_.push(Event(Logged{id, without_value(answer)}));
  });
}

void Relay::write_log(const std::string& id) {
  const auto found = logs_.find(id);
  if (found == logs_.end()) return;
  Log& log = found->second;
  const base::Time now = clock_.now();
  logs_bytes_ -= log.kept_bytes();
  if (auto call = log.next(now); call && !call_logs(id, std::move(*call))) {
    log.answered(base::fail("ThrottlingException", "The log store is busy."), now);
  }
  logs_bytes_ += log.kept_bytes();
  if (const auto complaint = log.take_complaint()) base::log_warning("{}", *complaint);
  if (log.settled()) logs_.erase(found);
}

void Relay::take(const Logged& logged) {
  const auto found = logs_.find(logged.session);
  if (found == logs_.end()) return;
  Log& log = found->second;
  const base::Time now = clock_.now();
  logs_bytes_ -= log.kept_bytes();
  log.answered(logged.answer, now);
  logs_bytes_ += log.kept_bytes();
  write_log(logged.session);
  const auto session = sessions_.find(logged.session);
  if (session != sessions_.end() && session->second.held) {
    session->second.held->until = now + log_patience;
  }
}

void Relay::write_logs_that_are_due() {
  const base::Time now = clock_.now();
  std::vector<std::string> due;
  for (const auto& [id, log] : logs_) {
    if (log.next_due() <= now) due.push_back(id);
  }
  for (const std::string& id : due) write_log(id);
}

bool Relay::log_may_end(const std::string& id) const {
  const auto found = logs_.find(id);
  return found == logs_.end() || found->second.may_end();
}

void Relay::release_ends() {
  const base::Time now = clock_.now();
  std::vector<std::string> due;
  for (const auto& [id, session] : sessions_) {
    if (session.held && (session.held->until <= now || log_may_end(id))) due.push_back(id);
  }
  for (const std::string& id : due) {
    Session& session = sessions_.at(id);
    const HeldEnd held = std::move(*session.held);
    session.held.reset();
    on_agent(session, {session.agent_id, held.message});
    const auto still = sessions_.find(id);
    if (still != sessions_.end() && held.agent_closed) on_agent_closed(still->second);
  }
}

void Relay::finish_logs() {
  size_t refused = 0;
  for (auto& [id, log] : logs_) {
    for (LogCall& call : log.rest()) {
      if (!call_logs(id, std::move(call))) ++refused;
    }
  }
  if (refused > 0) {
    base::log_error("the log store was too busy for the ends of sessions of ExecuteCommand");
  }
}

}  // namespace exec
