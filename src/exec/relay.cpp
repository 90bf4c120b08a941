#include "exec/relay.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/query.h"
#include "base/format.h"
#include "base/log.h"
#include "base/random.h"
#include "crypto/crypto.h"
#include "json/value.h"

namespace exec {
namespace {

constexpr base::Milliseconds longest_wait{1'000};  // For events; then for what became due.
// For the agent to come after its client, for a client to come at all, for one to show its token,
// for one to come back, and for one to take the last output.
constexpr base::Milliseconds agent_patience{20'000};
constexpr base::Milliseconds client_patience{60'000};
constexpr base::Milliseconds handshake_patience{10'000};
constexpr base::Milliseconds resume_patience{30'000};
constexpr base::Milliseconds ending_patience{30'000};
constexpr size_t most_sessions = 1'000;
constexpr size_t most_handshakes = 1'000;
constexpr size_t most_waiting_bytes = 2 * acs::exec_window;
constexpr size_t message_overhead = 64;  // What an empty one takes, about.
constexpr size_t most_queued_bytes = size_t{256} << 20;
constexpr uint16_t close_normal = 1000;
constexpr uint16_t close_policy = 1008;

constexpr std::string_view no_session = "There is no such session.";

void refuse(const net::Upgrade& upgrade, int status, std::string_view why) {
  upgrade.refuse({.status = status,
                  .headers = {{"Content-Type", "text/plain; charset=utf-8"}},
                  .body = std::string(why) + "\n"});
}

std::string_view behind(std::string_view target, std::string_view prefix) {
  const std::string_view path = target.substr(0, target.find('?'));
  return path.substr(prefix.size());
}

}  // namespace

Relay::Relay(base::Clock& clock, CallLogs call_logs)
    : clock_(clock), call_logs_(std::move(call_logs)), thread_([this] { run(); }) {}

Relay::~Relay() {
  stop();
}

void Relay::stop() {
  queue_.close();
  if (thread_.joinable()) thread_.join();
}

bool Relay::expect(Ticket session) {
  if (open_sessions_.fetch_add(1) < most_sessions && queue_.try_push(Event(std::move(session)))) {
    return true;
  }
  --open_sessions_;
  return false;
}

bool Relay::resume(std::string id, std::string client_token, Answered answered) {
  return queue_.try_push(Resume{std::move(id), std::move(client_token), std::move(answered)});
}

bool Relay::terminate(std::string id, Answered answered) {
  return queue_.try_push(Terminate{std::move(id), std::move(answered)});
}

void Relay::end_all_of(std::string instance) {
  queue_.push(EndAllOf{std::move(instance)});
}

bool Relay::is_for(std::string_view path) {
  return path.starts_with(client_path) || path.starts_with(agent_path);
}

// False: the far ends are faster than this thread, which must not be made to keep any amount.
bool Relay::hand(uint64_t socket_id, std::string bytes) {
  const size_t size = bytes.size();
  if (queued_bytes_.fetch_add(size) + size <= most_queued_bytes &&
      queue_.try_push(Message{socket_id, std::move(bytes)})) {
    return true;
  }
  queued_bytes_ -= size;
  return false;
}

void Relay::open(const net::HttpRequest& request, const net::Upgrade& upgrade) {
  const bool agent = std::string_view(request.target).starts_with(agent_path);
  Event opening(
      Opening{.side = agent ? Side::Agent : Side::Client,
              .session = std::string(behind(request.target, agent ? agent_path : client_path)),
              .token = api::query_parameter(request.target, "token"),
              .upgrade = upgrade});
  if (!queue_.try_push(std::move(opening))) refuse(upgrade, 503, "The server is busy. Try again.");
}

std::shared_ptr<net::WebSocket> Relay::accept(uint64_t socket_id, const net::Upgrade& upgrade) {
  // Shared by the handler, which may run at once. Its connection keeps the socket.
  const auto own = std::make_shared<std::atomic<std::weak_ptr<net::WebSocket>>>();
  // What the handlers push is taken after the event that is being taken now.
  auto socket = upgrade.accept({.on_message =
                                    [this, socket_id, own](std::string bytes, bool) {
                                      if (hand(socket_id, std::move(bytes))) return;
                                      if (const auto open = own->load().lock()) open->abort();
                                    },
                                .on_close =
                                    [this, socket_id](uint16_t code, const std::string&) {
                                      queue_.push(Closed{socket_id, code == close_normal});
                                    }});
  if (socket != nullptr) own->store(socket);
  return socket;
}

void Relay::run() {
  while (true) {
    auto events = queue_.pop_batch(1'000, until_next_due());
    if (events.empty() && queue_.closed()) break;
    for (Event& event : events) {
      std::visit([this](auto& one) { take(std::move(one)); }, event);
    }
    tick();
    write_logs_that_are_due();
    release_ends();
    give_up_stale();
  }
  while (!sessions_.empty()) end(sessions_.begin()->first, "The server stops.");
  for (auto& [id, handshake] : handshakes_) {
    handshake.socket->close(close_policy, "The server stops.");
  }
  finish_logs();
}

base::Milliseconds Relay::until_next_due() {
  base::Milliseconds wait = longest_wait;
  const base::Time now = clock_.now();
  for (const auto& [id, session] : sessions_) {
    if (!session.channel || session.client == nullptr) continue;
    const base::Time due = session.channel->next_due();
    if (due <= now) return base::Milliseconds{0};
    wait = std::min(wait, due - now);
  }
  for (const auto& [id, log] : logs_) {
    const base::Time due = log.next_due();
    if (due <= now) return base::Milliseconds{0};
    wait = std::min(wait, due - now);
  }
  return wait;
}

void Relay::take(Ticket ticket) {
  const std::string id = ticket.id;
  Session session;
  session.ticket = std::move(ticket);
  session.made_at = clock_.now();
  sessions_.emplace(id, std::move(session));
}

void Relay::take(Opening opening) {
  if (opening.side == Side::Agent) return take_agent(std::move(opening));
  if (!sessions_.contains(opening.session) || handshakes_.size() >= most_handshakes) {
    return refuse(opening.upgrade, 400, no_session);
  }
  const uint64_t id = ++last_socket_;
  auto socket = accept(id, opening.upgrade);
  if (socket == nullptr) return;
  handshakes_.emplace(id, Handshake{std::move(opening.session), std::move(socket), clock_.now()});
}

void Relay::take_agent(Opening opening) {
  const auto found = sessions_.find(opening.session);
  if (found == sessions_.end() || found->second.agent != nullptr ||
      !crypto::constant_time_equal(opening.token, found->second.ticket.agent_token)) {
    return refuse(opening.upgrade, 400, no_session);
  }
  Session& session = found->second;
  const uint64_t id = ++last_socket_;
  auto socket = accept(id, opening.upgrade);
  if (socket == nullptr) return;
  of_socket_[id] = opening.session;
  session.agent = std::move(socket);
  session.agent_id = id;
  for (std::string& message : std::exchange(session.waiting, {})) {
    session.agent->send_binary(std::move(message));
  }
}

void Relay::take(Message message) {
  queued_bytes_ -= message.bytes.size();
  if (handshakes_.contains(message.socket_id)) return on_first_message(message.socket_id, message);
  const auto socket = of_socket_.find(message.socket_id);
  if (socket == of_socket_.end()) return;
  Session& session = sessions_.at(socket->second);
  if (message.socket_id != session.agent_id) {
    on_client(session, message);
  } else if (!log_from_agent(session, message)) {
    on_agent(session, message);
  }
}

void Relay::take(const Closed& closed) {
  handshakes_.erase(closed.socket_id);
  const auto socket = of_socket_.find(closed.socket_id);
  if (socket == of_socket_.end()) return;
  const std::string id = socket->second;
  of_socket_.erase(socket);
  Session& session = sessions_.at(id);
  if (closed.socket_id == session.agent_id) {
    if (session.held) {
      session.held->agent_closed = true;
    } else {
      on_agent_closed(session);
    }
  } else if (session.channel || (session.link && !closed.on_purpose)) {
    session.client = nullptr;
    session.client_lost = clock_.now();
  } else {
    end(id, "The client has closed the session.");
  }
}

void Relay::on_agent_closed(Session& session) {
  constexpr std::string_view why = "The agent has closed the session.";
  session.agent = nullptr;
  end_log(session.ticket.id, why);
  // What it sent before may still be on its way to the client.
  if (session.link && !session.ending) {
    session.ending = why;
    session.ends_by = clock_.now() + ending_patience;
    if (!session.told_end) {
      send_on_link(session, acs::encode_exec(acs::ExecKind::Failure, *session.ending));
    }
  } else if (!session.ending) {
    end(session.ticket.id, why);
  }
}

void Relay::take(Resume resume) {
  const auto found = sessions_.find(resume.session);
  const bool known = found != sessions_.end() && (found->second.channel || found->second.link);
  if (known) found->second.ticket.client_token = std::move(resume.token);
  resume.answered(known);
}

void Relay::take(const EndAllOf& order) {
  std::vector<std::string> ids;
  for (const auto& [id, session] : sessions_) {
    if (session.ticket.instance == order.instance) ids.push_back(id);
  }
  for (const std::string& id : ids) end(id, "The key of the container instance was taken back.");
}

void Relay::take(Terminate terminate) {
  const bool known = sessions_.contains(terminate.session);
  if (known) end(terminate.session, "The session was terminated.");
  terminate.answered(known);
}

std::string_view Relay::stale_because(const Session& session, base::Time now) {
  if (!session.accepted) {
    return session.made_at + client_patience <= now ? "No client came." : "";
  }
  if (session.ending) {
    const bool settled = session.channel ? session.channel->settled() : session.link->settled();
    const bool told = session.client != nullptr && settled;
    return told || session.ends_by <= now ? std::string_view(*session.ending) : "";
  }
  if (session.client == nullptr && session.client_lost + resume_patience <= now) {
    return "The client has gone and has not come back.";
  }
  if (session.agent == nullptr && session.made_at + agent_patience <= now) {
    return "The agent of the container instance did not answer: ExecuteCommand needs Berth's own "
           "agent.";
  }
  return "";
}

void Relay::give_up_stale() {
  const base::Time now = clock_.now();
  std::vector<std::pair<std::string, std::string>> stale;
  for (const auto& [id, session] : sessions_) {
    const std::string_view why = stale_because(session, now);
    if (!why.empty()) stale.emplace_back(id, why);
  }
  for (const auto& [id, why] : stale) end(id, why);
  std::erase_if(handshakes_, [&](const auto& one) {
    if (one.second.since + handshake_patience > now) return false;
    one.second.socket->close(close_policy, "The first message, with the token, did not come.");
    return true;
  });
}

void Relay::tick() {
  const base::Time now = clock_.now();
  std::vector<std::string> due;
  for (const auto& [id, session] : sessions_) {
    const bool with_plugin = session.channel && session.client != nullptr;
    if (with_plugin && session.channel->next_due() <= now) due.push_back(id);
  }
  for (const std::string& id : due) {
    Session& session = sessions_.at(id);
    follow(session, session.channel->tick(now));
  }
}

// {"TokenValue": ...}; "BerthRaw", "BerthTerminal" and "BerthTaken" of `berth exec`.
void Relay::on_first_message(uint64_t socket_id, const Message& message) {
  Handshake handshake = std::move(handshakes_.at(socket_id));
  handshakes_.erase(socket_id);
  const auto hello = json::parse(message.bytes);
  const std::string token =
      hello && hello->is_object() ? (*hello)["TokenValue"].text_or("") : std::string();
  const auto found = sessions_.find(handshake.session);
  if (found == sessions_.end() || token.empty() ||
      !crypto::constant_time_equal(token, found->second.ticket.client_token)) {
    return handshake.socket->close(close_policy,
                                   "The session's token is wrong, or was used already.");
  }
  Session& session = found->second;
  session.ticket.client_token.clear();
  if (session.client != nullptr) {  // Its successor was faster than the news of its end.
    of_socket_.erase(session.client_id);
    session.client->abort();
  }
  session.client = std::move(handshake.socket);
  session.client_id = socket_id;
  of_socket_[socket_id] = session.ticket.id;
  if (session.channel) return follow(session, session.channel->reconnect(clock_.now()));
  const auto taken = (*hello)["BerthTaken"].as_int64();
  if (session.link) return resume_link(session, taken.value_or(-1));
  session.accepted = true;
  const bool raw = (*hello)["BerthRaw"].as_bool().value_or(false);
  const bool terminal = !raw || (*hello)["BerthTerminal"].as_bool().value_or(true);
  begin_log(session, terminal);
  to_agent(session, acs::encode_exec(acs::ExecStart{.terminal = terminal}));
  if (raw && taken) {
    session.link.emplace();
    return resume_link(session, *taken);
  }
  if (raw) return;
  session.channel.emplace(session.ticket.id, base::system_seed());
  follow(session, session.channel->start(clock_.now()));
}

void Relay::on_client(Session& session, const Message& message) {
  if (session.channel) {
    follow(session, session.channel->receive(message.bytes, session.input_room, clock_.now()));
  } else if (session.link) {
    on_client_of_link(session, message);
  } else {
    to_agent(session, message.bytes);
  }
}

void Relay::to_agent(Session& session, std::string message) {
  if (session.agent != nullptr) {
    session.agent->send_binary(std::move(message));
  } else if (session.waiting_bytes + message.size() <= most_waiting_bytes) {
    session.waiting_bytes += message.size() + message_overhead;
    session.waiting.push_back(std::move(message));
  } else {
    end(session.ticket.id, "The client sent too much before the agent came.");
  }
}

void Relay::follow(Session& session, SessionChannel::Step step) {
  if (session.client != nullptr) {
    for (std::string& frame : step.frames) session.client->send_binary(std::move(frame));
  }
  if (step.terminated) return end(session.ticket.id, "The client has ended the session.");
  if (session.ending) return;  // The agent has gone.
  std::vector<std::string> messages;
  if (!step.input.empty()) {
    session.input_room -= step.input.size();
    messages.push_back(acs::encode_exec(acs::ExecKind::Input, step.input));
  }
  if (step.size) {
    messages.push_back(acs::encode_exec(acs::TerminalSize{step.size->first, step.size->second}));
  }
  if (step.consumed > 0) {
    session.output_under_way -= step.consumed;
    messages.push_back(acs::encode_exec_consumed(step.consumed));
  }
  const std::string id = session.ticket.id;
  for (std::string& message : messages) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) to_agent(found->second, std::move(message));
  }
}

void Relay::on_agent(Session& session, const Message& message) {
  if (session.channel) return on_agent_of_plugin(session, message);
  if (session.link) return on_agent_of_link(session, message);
  if (session.client != nullptr) session.client->send_binary(message.bytes);
}

void Relay::on_agent_of_plugin(Session& session, const Message& message) {
  const auto read = acs::decode_exec(message.bytes);
  if (!read || session.ending) return;
  if (read->kind == acs::ExecKind::Output || read->kind == acs::ExecKind::Error) {
    session.output_under_way += read->bytes.size();
    if (session.output_under_way > acs::exec_window) {
      return end(session.ticket.id, "The agent sent more than it may.");
    }
    follow(session, session.channel->output(read->bytes, clock_.now()));
  } else if (read->kind == acs::ExecKind::Consumed) {
    const size_t bytes = acs::read_exec_consumed(read->bytes).value_or(0);
    session.input_room = std::min(session.input_room + bytes, acs::exec_window);
  } else if (read->kind == acs::ExecKind::ExitCode || read->kind == acs::ExecKind::Failure) {
    session.ending = read->kind == acs::ExecKind::ExitCode
                         ? base::format("The command has ended with exit code {}.", read->bytes)
                         : std::string(read->bytes);
    session.ends_by = clock_.now() + ending_patience;
  }
}

void Relay::end(const std::string& id, std::string_view why) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return;
  end_log(id, why);  // First: `id` may be the session's own.
  Session session = std::move(found->second);
  sessions_.erase(found);
  --open_sessions_;
  of_socket_.erase(session.client_id);
  of_socket_.erase(session.agent_id);
  if (session.client != nullptr) {
    if (session.channel) {
      for (std::string& frame : session.channel->finish(why, clock_.now()).frames) {
        session.client->send_binary(std::move(frame));
      }
    } else if (session.agent == nullptr && !session.told_end) {
      session.client->send_binary(acs::encode_exec(acs::ExecKind::Failure, why));
    }
    session.client->close(close_normal, std::string(why));
  }
  if (session.agent != nullptr) session.agent->close(close_normal, std::string(why));
}

}  // namespace exec
