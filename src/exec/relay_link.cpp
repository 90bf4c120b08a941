// Sessions of `berth exec` that can come back (acs/exec_link.h).

#include <utility>

#include "exec/relay.h"

namespace exec {
namespace {

// For a client that has gone, or that does not tell what it has: more than the agent may have under
// way, with the small messages between.
constexpr size_t most_kept_bytes = 8 * acs::exec_window;

}  // namespace

void Relay::on_client_of_link(Session& session, const Message& message) {
  acs::ExecLink::Received received = session.link->receive(message.bytes);
  if (received.broken) return end(session.ticket.id, "The client tells what cannot be.");
  for (std::string& answer : received.answers) session.client->send_binary(std::move(answer));
  // Where the agent has gone, nobody is there to take it.
  if (received.for_caller && !session.ending) to_agent(session, message.bytes);
}

void Relay::resume_link(Session& session, int64_t taken_by_client) {
  const auto rest = taken_by_client < 0
                        ? std::nullopt
                        : session.link->resume(static_cast<uint64_t>(taken_by_client));
  if (!rest) return end(session.ticket.id, "The client tells what cannot be.");
  session.client->send_binary(session.link->taken_message());
  for (const std::string& message : *rest) session.client->send_binary(message);
}

void Relay::send_on_link(Session& session, std::string message) {
  const std::string& kept = session.link->send(std::move(message));
  if (session.client != nullptr) session.client->send_binary(kept);
  if (session.link->kept_bytes() > most_kept_bytes) {
    end(session.ticket.id, "The client does not tell what it has.");
  }
}

void Relay::on_agent_of_link(Session& session, const Message& message) {
  if (session.told_end) return;
  const auto read = acs::decode_exec(message.bytes);
  session.told_end =
      read && (read->kind == acs::ExecKind::ExitCode || read->kind == acs::ExecKind::Failure);
  send_on_link(session, message.bytes);
}

}  // namespace exec
